'use strict';
'require view';
'require rpc';
'require poll';
'require dom';
'require ui';

// The links of each daemon, as `airbraid status --json` has them, every two seconds; a button switches an uplink.

const callStatus = rpc.declare({ object: 'airbraid', method: 'status' });
const callLink = rpc.declare({ object: 'airbraid', method: 'link', params: ['uplink', 'state', 'daemon'], expect: {} });

const bits = value => value == null ? '-' : value >= 1e6 ? `${(value / 1e6).toFixed(1)} Mbit/s` : `${(value / 1e3).toFixed(0)} kbit/s`;
const milliseconds = value => value == null ? '-' : `${(value * 1e3).toFixed(1)} ms`;
const percent = value => value == null ? '-' : `${(value * 100).toFixed(2)} %`;

function row(cells, kind) {
	return E('tr', { 'class': 'tr' }, cells.map(cell => E(kind, { 'class': kind }, [cell])));
}

function switched(daemon, uplink) {
	const state = uplink.state === 'off' ? 'on' : 'off';
	return E('button', {
		'class': 'btn cbi-button',
		'click': ui.createHandlerFn(this, async () => {
			const answer = await callLink(uplink.name, state, daemon.name);
			if (answer.error)
				ui.addNotification(null, E('p', answer.error), 'danger');
		})
	}, [state === 'on' ? _('Switch on') : _('Switch off')]);
}

function table(headings, rows) {
	return E('table', { 'class': 'table' }, [row(headings, 'th'), ...rows.map(cells => row(cells, 'td'))]);
}

function section(daemon) {
	const uplinks = daemon.uplinks.map(uplink => [
		uplink.name, uplink.device ?? '-', uplink.state, uplink.remedy ?? '', switched(daemon, uplink)
	]);
	const members = daemon.peers.flatMap(peer => peer.members.map(member => [
		peer.name, member.name, member.state, bits(member.rate_bps), milliseconds(member.rtt_s), percent(member.loss),
		member.remedy ?? ''
	]));
	const peers = daemon.peers.filter(peer => !peer.up).map(peer =>
		E('p', {}, [`${peer.name}: ${peer.remedy ?? peer.waits_for ?? _('no answer yet')}`]));
	return E('div', { 'class': 'cbi-section' }, [
		E('h3', {}, [`${daemon.name}: ${daemon.interface}, MTU ${daemon.mtu_bytes}`]),
		...peers,
		table([_('Uplink'), _('Device'), _('State'), '', ''], uplinks),
		table([_('Peer'), _('Link'), _('State'), _('Rate'), _('Round trip'), _('Loss'), ''], members)
	]);
}

function page(answer) {
	const daemons = answer.daemons ?? (answer.name ? [answer] : []);
	return daemons.length ? daemons.map(section)
		: [E('p', {}, [_('No daemon runs. Set enabled in /etc/config/airbraid, then start the service.')])];
}

return view.extend({
	load: () => callStatus(),
	render: answer => {
		const place = E('div', {}, page(answer));
		poll.add(async () => dom.content(place, page(await callStatus())), 2);
		return E('div', { 'class': 'cbi-map' }, [E('h2', {}, ['airbraid']), place]);
	},
	handleSave: null,
	handleSaveApply: null,
	handleReset: null
});

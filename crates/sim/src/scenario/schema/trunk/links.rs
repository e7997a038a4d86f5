//! A `[[trunk]]` over links: the links between two nodes that form it, and the options of each.

use crate::scenario::error::Complaint;
use crate::scenario::reader::{self, Foreign, View, quantity};
use crate::scenario::schema::{between, policy, position};
use crate::scenario::spec::{Link, LinkMember, LinkTrunk};
use crate::scenario::tree::{Data, Value};
use airbraid_engine::trunk::bonding::{MEMBERS_MAX, MemberConfig};
use airbraid_engine::wire::TUNNEL_HEADER_LEN;
use airbraid_units::Bytes;

/// The longest packet that flows send where nothing else is said: Ethernet's \[byte\].
const FULL: u64 = 1_500;

/// Keys that only a trunk over radios has.
static FOREIGN: Foreign =
    Foreign { keys: &["header", "select"], owner: "a trunk over radios", own: "a trunk over links" };

/// Reads one trunk, of which `others` of its kind stand before it in the file.
pub(super) fn read<'o>(
    view: &View<'_>,
    name: String,
    nodes: &[String],
    links: &[Link],
    others: impl Iterator<Item = &'o LinkTrunk>,
) -> LinkTrunk {
    let ends = between(view, nodes);
    view.beside(&FOREIGN);
    let policy = policy::bond::read(view.sub("policy"));
    let members = ends.map(|ends| members(view, ends, links)).unwrap_or_default();
    let trunk = LinkTrunk { name, between: ends.unwrap_or_default(), members, policy };
    for other in others {
        let shared = trunk.members.iter().any(|one| other.members.iter().any(|two| one.link == two.link));
        let message = || format!("trunks `{}` and `{}` use the same link", other.name, trunk.name);
        view.require(!shared, "members", message, "a link is a member of one trunk");
    }
    trunk
}

fn members(view: &View<'_>, ends: [usize; 2], links: &[Link]) -> Vec<LinkMember> {
    let joins = |link: &Link| link.between == ends || link.between == [ends[1], ends[0]];
    let of = |link| LinkMember { link, config: MemberConfig::default() };
    // What a member's path takes is found by probes where the link has a limit: its ends could send a full packet.
    let limited = |mut member: LinkMember| {
        let longest = links[member.link].directions.iter().filter_map(|direction| direction.mtu).max();
        let full = Bytes::new(FULL + TUNNEL_HEADER_LEN as u64) + member.config.overhead;
        member.config.mtu = longest.map(|mtu| mtu.max(full));
        member
    };
    let all = || links.iter().enumerate().filter(|(_, link)| joins(link)).map(|(index, _)| of(index)).collect();
    let mut members: Vec<LinkMember> = Vec::new();
    match view.optional("members", "every link between the ends", reader::list) {
        None => members = all(),
        Some(given) => {
            for item in given {
                match member(view, item, links, ends) {
                    Ok(one) if members.iter().any(|other| other.link == one.link) => {
                        view.cx.complain(item.place, Complaint::new("a link is a member once", "leave the second out"));
                    }
                    Ok(one) => members.push(one),
                    Err(complaint) => view.cx.complain(item.place, complaint),
                }
            }
        }
    }
    let members: Vec<LinkMember> = members.into_iter().map(limited).collect();
    // Members that are written and wrong were told.
    let is_told = members.is_empty() && view.find("members").is_some_and(|found| !is_empty(found.value));
    let some = (1..=MEMBERS_MAX).contains(&members.len()) || is_told;
    let message = || format!("a trunk over links has 1 to {MEMBERS_MAX} members, this has {}", members.len());
    view.require(some, "members", message, "add [[link]] tables between its ends");
    members
}

fn is_empty(value: &Value) -> bool {
    matches!(&value.data, Data::List(items) if items.is_empty())
}

/// `"lte"`, or `{ link = "lte", backup = true }`.
fn member(view: &View<'_>, item: &Value, links: &[Link], ends: [usize; 2]) -> Result<LinkMember, Complaint> {
    let find = |given: &str| {
        let names: Vec<String> = links.iter().map(|link| link.name.clone()).collect();
        let index = position(given, "link", &names)?;
        let pair = links[index].between;
        if pair == ends || pair == [ends[1], ends[0]] {
            return Ok(index);
        }
        Err(Complaint::new(format!("link `{given}` does not join the ends of this trunk"), "name one that does"))
    };
    let Data::Table(table) = &item.data else {
        return Ok(LinkMember { link: find(&reader::text(item)?)?, config: MemberConfig::default() });
    };
    let name = match table.get("link").map(|value| &value.data) {
        Some(Data::Text(name)) => name.clone(),
        _ => "?".to_owned(),
    };
    let inner = View::new(view.cx, format!("{}.{name}", view.path_of("members")), item.place, Some(table));
    let link = inner.required("link", "\"lte\"", |value| find(&reader::text(value)?)).unwrap_or_default();
    let default = MemberConfig::default();
    let config = MemberConfig {
        tier: inner.count("tier", 0, "the first").min(u32::from(u8::MAX)) as u8,
        is_backup: inner.flag("backup", false, "it works with the others"),
        quota: inner.optional("quota", "none", quantity::<Bytes>),
        rate_cap: inner.optional("rate_cap", "none", quantity),
        overhead: inner.quantity("overhead", default.overhead, "IPv4, UDP and a sealed frame"),
        ..default
    };
    inner.finish();
    Ok(LinkMember { link, config })
}

//! Samples of a run between its events.

use super::account::Device;
use super::flow::Transport;
use super::id::{LinkDirection, LinkTrunkEnd, RadioId, RadioTrunkEnd};
use super::{Interrupted, World};
use crate::record::courses::{self, Courses, FlowCourse, QueueCourse};
use airbraid_units::Instant;

impl World<'_> {
    /// The same as [`World::run`], with samples on the way.
    ///
    /// # Errors
    /// `Interrupted` if it was told to stop.
    pub fn run_sampled(&mut self, on_progress: &mut dyn FnMut(f64) -> bool) -> Result<Courses, Interrupted> {
        let mut courses = self.begin_courses();
        let mut before = vec![(0, 0); courses.flows.len()];
        let mut was_counting = self.flows.warm_up == Instant::ZERO;
        for end in courses::ends(self.spec.duration) {
            self.play(end, on_progress)?;
            if !was_counting && end >= self.flows.warm_up {
                // The end of the warm-up has begun the distributions again.
                (was_counting, before) = (true, vec![(0, 0); courses.flows.len()]);
            }
            self.sample_flows(&mut courses.flows, &mut before);
            self.sample_queues(&mut courses.queues);
        }
        self.run(on_progress)?;
        courses.queues.retain(|queue| queue.packets.iter().any(|packets| *packets > 0));
        Ok(courses)
    }

    fn begin_courses(&self) -> Courses {
        let ports = &self.ports;
        let radios = ports.radios.pairs().filter(|(_, port)| port.has_own_queue(&self.host));
        let radios = radios.map(|(radio, _): (RadioId, _)| Device::Radio(radio));
        let radio_trunks = ports.radio_trunks.pairs().map(|(end, _): (RadioTrunkEnd, _)| Device::RadioTrunk(end));
        let link_trunks = ports.link_trunks.pairs().map(|(end, _): (LinkTrunkEnd, _)| Device::LinkTrunk(end));
        let links = ports.links.pairs().map(|(link, _): (LinkDirection, _)| Device::Link(link));
        let queue = |device| QueueCourse { name: self.queue_name(device), packets: Vec::new() };
        Courses {
            seed: self.seed,
            interval_s: courses::interval(self.spec.duration).as_secs_f64(),
            flows: self
                .spec
                .flows
                .iter()
                .map(|f| FlowCourse { name: f.name.clone(), ..FlowCourse::default() })
                .collect(),
            queues: radios.chain(radio_trunks).chain(link_trunks).chain(links).map(queue).collect(),
        }
    }

    /// The name of a queue: the links of a multi-link device have one.
    fn queue_name(&self, device: Device) -> String {
        match device {
            Device::Radio(radio) if self.ports.radios[radio].is_link() => {
                format!("device {}", self.spec.nodes[self.ports.radios[radio].node().index()].name)
            }
            other => self.place(other),
        }
    }

    fn sample_flows(&self, courses: &mut [FlowCourse], before: &mut [(u64, u128)]) {
        for ((flow, course), before) in self.flows.table.iter().zip(courses).zip(before) {
            course.delay_s.push(flow.counts.delay.mean_since_s(*before));
            *before = flow.counts.delay.state();
            if let Transport::Tcp(connection) = &flow.transport {
                course.window_bytes.push(connection.sender.cwnd().as_u64());
                course.flight_bytes.push(connection.sender.flight_size().as_u64());
            }
        }
    }

    fn sample_queues(&self, courses: &mut [QueueCourse]) {
        let ports = &self.ports;
        let radios = ports.radios.iter().filter(|port| port.has_own_queue(&self.host));
        let radios = radios.map(|port| port.interface_queue(&self.host));
        let radio_trunks = ports.radio_trunks.iter().map(|port| port.own_queue());
        let link_trunks = ports.link_trunks.iter().map(|port| port.free_space());
        let links = ports.links.iter().map(|port| port.free_space());
        let all = radios.chain(radio_trunks).chain(link_trunks).chain(links);
        for (course, queue) in courses.iter_mut().zip(all) {
            course.packets.push(queue.waiting);
        }
    }
}

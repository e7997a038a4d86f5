//! `airbraid top`: a daemon's links and events in a terminal, once a second.
//!
//! It asks the daemon's control socket, as `airbraid status` does, and changes nothing.

mod rows;
mod view;

use super::arguments;
use super::daemon::named;
use super::ended;
use crate::print::{Ended, out};
use airbraid_live::daemon::{self, HistoryReport, Question, Span};
use ratatui::buffer::Buffer;
use ratatui::crossterm::event::{self, Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers};
use ratatui::layout::Rect;
use ratatui::widgets::Widget;
use std::io::IsTerminal as _;
use std::time::Duration;
use view::Screen;

/// Interval of the questions.
const PAUSE: Duration = Duration::from_secs(1);
/// Interval at which keys are looked for: below what a person notices.
const KEYS: Duration = Duration::from_millis(100);
/// Width of a frame that is printed \[characters\].
const PRINTED_WIDTH: u16 = 100;

/// Shows a daemon until `q`; without a terminal it prints one frame.
///
/// # Errors
/// There is no such daemon, or the terminal refuses.
pub fn top(arguments: &arguments::Named) -> Result<(), Ended> {
    let name = named(arguments.name.as_deref())?;
    let mut screen = Screen::new(ask(&name, Span::Minute)?);
    if !std::io::stdout().is_terminal() || !std::io::stdin().is_terminal() {
        return out(&printed(&screen));
    }
    let mut terminal = ratatui::try_init().map_err(refused)?;
    let done = watch(&name, &mut screen, &mut terminal);
    ratatui::restore();
    done
}

fn refused(error: std::io::Error) -> Ended {
    Ended::Failed(format!("the terminal: {error}"))
}

fn ask(name: &str, span: Span) -> Result<HistoryReport, Ended> {
    let answer = daemon::ask(name, &Question::History(span)).map_err(ended)?;
    serde_json::from_str(&answer).map_err(|error| Ended::Failed(format!("{name} speaks otherwise: {error}")))
}

fn watch(name: &str, screen: &mut Screen, terminal: &mut ratatui::DefaultTerminal) -> Result<(), Ended> {
    loop {
        let mut span = screen.span;
        for _ in 0..PAUSE.as_millis() / KEYS.as_millis() {
            terminal.draw(|frame| frame.render_widget(&*screen, frame.area())).map_err(refused)?;
            if !event::poll(KEYS).map_err(refused)? {
                continue;
            }
            // A change of the size is drawn at the next turn.
            if let Event::Key(key) = event::read().map_err(refused)?
                && key.kind == KeyEventKind::Press
                && !on_key(screen, key)
            {
                return Ok(());
            }
            if span != screen.span {
                span = screen.span;
                break;
            }
        }
        if !screen.is_paused || screen.is_other_span() {
            // A daemon that is gone may come again: what it said last stays.
            match ask(name, span) {
                Ok(report) => screen.update(report),
                Err(Ended::Argument(why) | Ended::Failed(why)) => screen.lose(&why),
                Err(other) => return Err(other),
            }
        }
    }
}

/// Carries out a key; returns whether to go on.
fn on_key(screen: &mut Screen, key: KeyEvent) -> bool {
    match key.code {
        KeyCode::Char('q') | KeyCode::Esc => return false,
        KeyCode::Char('c') if key.modifiers.contains(KeyModifiers::CONTROL) => return false,
        KeyCode::Char('s') => screen.sort = screen.sort.next(),
        KeyCode::Char('o') => screen.is_reversed = !screen.is_reversed,
        KeyCode::Char('p' | ' ') => screen.is_paused = !screen.is_paused,
        KeyCode::Char(digit @ '1'..='4') => screen.span = Span::ALL[digit as usize - '1' as usize],
        KeyCode::Down | KeyCode::Char('j') => screen.scroll = screen.scroll.saturating_add(1),
        KeyCode::Up | KeyCode::Char('k') => screen.scroll = screen.scroll.saturating_sub(1),
        _ => {}
    }
    true
}

/// One frame as text.
fn printed(screen: &Screen) -> String {
    let area = Rect::new(0, 0, PRINTED_WIDTH, screen.height());
    let mut buffer = Buffer::empty(area);
    screen.render(area, &mut buffer);
    text(&buffer)
}

/// The characters of a buffer, without the blanks at the ends of lines.
fn text(buffer: &Buffer) -> String {
    let area = buffer.area;
    let line = |y: u16| (0..area.width).map(|x| buffer[(x, y)].symbol()).collect::<String>();
    (0..area.height).map(|y| format!("{}\n", line(y).trim_end())).collect()
}

#[cfg(test)]
mod tests;

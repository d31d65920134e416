//! `pintle completions` and `pintle man`: scripts for shells, and the manual.

use clap::CommandFactory as _;
use clap_complete::Shell;

use crate::args::Args;
use crate::exit::CliError;
use crate::output;

pub(super) fn completions(shell: Shell) -> Result<(), CliError> {
    output::result(&script(shell))
}

fn script(shell: Shell) -> Vec<u8> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Args::command(), "pintle", &mut script);
    script
}

pub(super) fn manual() -> Result<(), CliError> {
    output::result(&pages()?)
}

/// Returns a page for the program, and one for each of its commands.
fn pages() -> std::io::Result<Vec<u8>> {
    let mut program = Args::command();
    program.build();
    let mut page = Vec::new();
    clap_mangen::Man::new(program.clone()).render(&mut page)?;
    add_subcommands(&program, "pintle", &mut page)?;
    Ok(page)
}

/// Adds the pages of a command's subcommands, with all their subcommands.
fn add_subcommands(command: &clap::Command, name: &str, page: &mut Vec<u8>) -> std::io::Result<()> {
    let shown = command.get_subcommands();
    for command in shown.filter(|command| !command.is_hide_set() && command.get_name() != "help") {
        let name = format!("{name}-{}", command.get_name());
        let own = command.clone().display_name(name.clone());
        clap_mangen::Man::new(own).render(page)?;
        add_subcommands(command, &name, page)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use clap::ValueEnum as _;

    use super::*;

    /// The names of the options that the help shows.
    fn shown_flags(command: &clap::Command) -> impl Iterator<Item = &str> {
        let shown = command.get_opts().filter(|option| !option.is_hide_set());
        shown.filter_map(clap::Arg::get_long)
    }

    #[test]
    fn every_shell_and_the_manual_know_every_command_and_flag() {
        let page = String::from_utf8(pages().expect("written")).expect("text");
        // The manual escapes a hyphen that must not become a dash.
        let page = page.replace("\\-", "-");
        let mut program = Args::command();
        program.build();
        assert!(
            page.contains("pintle-auth-status"),
            "a command behind a command"
        );
        for command in program.get_subcommands() {
            let name = command.get_name();
            assert!(page.contains(&format!("pintle-{name}")), "{name}");
            for flag in shown_flags(command) {
                assert!(page.contains(&format!("--{flag}")), "{name} --{flag}");
            }
        }
        for shell in Shell::value_variants() {
            let script = String::from_utf8(script(*shell)).expect("text");
            for command in program.get_subcommands() {
                let name = command.get_name();
                assert!(script.contains(name), "{shell}: {name}");
                for flag in shown_flags(command) {
                    assert!(script.contains(flag), "{shell}: {name} --{flag}");
                }
            }
        }
    }
}

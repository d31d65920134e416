//! The paths of child processes in the facade.

#[test]
fn child_processes_have_one_type_under_two_paths() {
    let by_client: pintle::client::Command = pintle::process::Command::new("server");
    let by_process: pintle::process::Command = by_client;
    assert!(format!("{by_process:?}").contains("server"));
}

//! Servers against lock files.

use pintle_server::{Server, Tool};
use pintle_testkit::{assert_surface, surface};

fn server() -> Server {
    let add = Tool::new("add").description("Adds numbers.");
    Server::new("calculator", "1.0.0").add_tool(add.handler(async || "3"))
}

#[test]
fn a_server_is_that_of_its_lock_file() {
    assert_surface!(server(), "tests/surface/calculator.json");
}

#[tokio::test]
async fn a_lock_file_is_compared_inside_of_a_runtime() {
    assert_surface!(server(), "tests/surface/calculator.json");
}

#[test]
#[should_panic(expected = "/instructions: {+Read me.+}")]
fn another_server_is_not_that_of_the_lock_file() {
    let other = server().instructions("Read me.");
    assert_surface!(other, "tests/surface/calculator.json");
}

#[test]
fn a_server_that_does_not_start_is_reported() {
    let twice = server().add_tool(Tool::new("add").handler(async || "3"));
    let fault = surface::surface_of(twice).expect_err("two tools have one name");
    assert!(fault.starts_with("the server does not start: "), "{fault}");
}

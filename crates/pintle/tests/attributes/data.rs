//! `#[data]` and `#[pintle::main]`.

use std::process::ExitCode;

use pintle::client::Client;
use pintle::prelude::*;
use serde_json::json;

/// Unit of a temperature.
#[data(rename_all = "lowercase")]
enum Unit {
    #[default]
    Celsius,
    Fahrenheit,
}

/// The weather of a city.
#[data(new, deny_unknown_fields)]
#[derive(PartialEq)]
struct Weather {
    city: String,
    /// The temperature, in the unit.
    #[schemars(range(min = -90))]
    temperature: f64,
    unit: Unit,
}

/// A page of a list, of any type.
#[data(crate = pintle, new, deny_unknown_fields)]
#[derive(Debug, Default, std::clone::Clone)]
struct Page<T> {
    items: Vec<T>,
}

/// Returns the weather of a city.
///
/// # Arguments
///
/// - `city`: The name of the city,
///   in any language.
#[tool(read_only)]
async fn weather(city: String, #[arg(default)] unit: Unit) -> Json<Weather> {
    let temperature = if unit == Unit::Celsius { 11.5 } else { 52.7 };
    Json(Weather::new(city, temperature, unit))
}

/// Counts the items of a page.
#[tool(read_only)]
async fn count(page: Args<Page<u8>>) -> usize {
    page.0.items.len()
}

async fn client() -> Client {
    let server = Server::new("weather", "1").tools::<(weather, count)>();
    Client::connect(server).await.expect("a client")
}

#[tokio::test]
async fn data_is_an_argument_and_a_result_with_a_schema() {
    let client = client().await;
    let tools = client.list_tools().await.expect("a list");
    let input = json!(tools.iter().next().expect("a tool").input_schema);
    let unit = &input["properties"]["unit"];
    assert_eq!(unit["enum"], json!(["celsius", "fahrenheit"]), "{input}");
    assert_eq!(unit["default"], "celsius");
    let city = &input["properties"]["city"];
    assert_eq!(
        city["description"],
        "The name of the city, in any language."
    );
    let description = tools.iter().next().expect("a tool").description.clone();
    assert_eq!(
        description.as_deref(),
        Some("Returns the weather of a city.")
    );
    let output = json!(tools.iter().next().expect("a tool").output_schema);
    let temperature = &output["properties"]["temperature"];
    assert_eq!(temperature["minimum"], json!(-90), "{output}");
    assert_eq!(temperature["description"], "The temperature, in the unit.");

    let called = client
        .call_tool("weather", json!({ "city": "Basel" }))
        .await;
    let data = called.expect("a result").structured_content.expect("data");
    let read: Weather = serde_json::from_value(data).expect("the type reads what it writes");
    let expected = Weather {
        city: "Basel".into(),
        temperature: 11.5,
        unit: Unit::default(),
    };
    assert_eq!(read.clone(), expected);
}

#[tokio::test]
async fn options_of_data_are_those_of_serde() {
    let client = client().await;
    let counted = client.call_tool("count", json!({ "items": [1, 2] })).await;
    assert_eq!(counted.expect("a result").first_text(), Some("2"));
    let unknown = json!({ "items": [], "next": 1 });
    let refused = client.call_tool("count", unknown).await.expect("a result");
    assert!(refused.has_failed(), "`deny_unknown_fields` is in force");
    assert!(Page::<u8>::default().items.is_empty());
    assert_eq!(Page::new(vec![1_u8]).items, [1]);
}

#[pintle::main]
async fn served_in_the_body() -> Result<()> {
    let client = client().await;
    client.call_tool("count", json!({ "items": [] })).await?;
    Ok(())
}

#[pintle::main(crate = pintle)]
fn without_configuration() -> Result<Server> {
    let name: String = Err::<String, _>("the configuration is missing")?;
    Ok(Server::new(name, "1"))
}

mod program {
    pintle::serve!(Err::<super::Server, _>("the configuration is missing"));

    pub(super) fn run() -> super::ExitCode {
        main()
    }
}

#[test]
fn a_main_function_returns_the_exit_code() {
    assert_eq!(program::run(), ExitCode::FAILURE);
    assert_eq!(served_in_the_body(), ExitCode::SUCCESS);
    assert_eq!(without_configuration(), ExitCode::FAILURE);
}

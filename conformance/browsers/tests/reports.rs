//! Reports about the server, measurements, and the sign-in.

use pintle_browsers::{Page, showcase};

in_browsers! {
    async fn the_server_is_checked_on_a_click(page: &Page) of showcase().await; {
        page.see("Allot a berth").await;
        page.press("Checks").await;
        page.press("Check the server").await;
        page.see("2025-11-25: N-PING-01").await;
        let counts = "return [...document.querySelectorAll('#panel-checks tbody tr')].map((row) => row.innerText.split(/\\s+/).join(' '))";
        let counts = page.run(counts, vec![]).await;
        assert_eq!(counts, serde_json::json!(["2025-11-25 1 1 0", "2026-07-28 0 1 1"]));
        page.press("Check the tools").await;
        page.see("Fix: plain").await;
    }

    async fn a_measurement_is_plotted_beside_a_file(page: &Page) of showcase().await; {
        page.see("Allot a berth").await;
        page.press("Bench").await;
        page.fill("Tool", "allot_berth").await;
        page.see("Each call may change something").await;
        page.fill("Tool", "vessels").await;
        page.see_no("Each call may change something").await;
        page.fill("Calls", "30").await;
        page.press("Measure").await;
        page.see("30 calls in").await;
        page.see_element(".plot .curve-0").await;
        let marks = "return [...document.querySelectorAll('.plot text')].map((node) => node.textContent).slice(0, 3)";
        assert_eq!(page.run(marks, vec![]).await, serde_json::json!(["min", "50 %", "90 %"]));
        let file = std::env::temp_dir().join(format!("pintle-bench-{}.json", std::process::id()));
        std::fs::write(&file, RESULT).expect("written");
        page.choose_file(file.to_str().expect("text"), "Open results").await;
        page.see_element(".plot .curve-1").await;
        page.see("12.5 µs").await;
        std::fs::write(&file, "{\"histogram\":[]}").expect("written");
        page.choose_file(file.to_str().expect("text"), "Open results").await;
        page.see("The file has no results of pintle bench").await;
        std::fs::remove_file(file).expect("removed");
    }

    async fn a_sign_in_is_done_in_the_page(page: &Page) of showcase().await.guarded(); {
        page.see("The server requires a sign-in.").await;
        page.press("Sign in").await;
        page.see("The server names plain for its sign-ins.").await;
        page.see("issuer.example").await;
        // The page connects after the sign-in.
        page.see("Allot a berth").await;
    }
}

/// A result of `pintle bench --json`.
const RESULT: &str = r#"{"tool":"vessels","concurrency":1,"calls":2,"toolErrors":0,"seconds":1,"callsPerSecond":2,
"microseconds":{"min":12.5,"mean":20,"p50":12.5,"p90":30,"p99":30,"p999":30,"max":30},
"histogram":[{"upToMicroseconds":12.5,"calls":1},{"upToMicroseconds":30,"calls":1}]}"#;

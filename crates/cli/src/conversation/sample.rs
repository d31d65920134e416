//! `--sample-with`: a program that answers instead of a model. It reads the request as JSON from its
//! standard input, and writes the message as JSON to its standard output.

use std::process::Stdio;

use pintle::client::{ClientBuilder, SamplingError};
use pintle::model::{CreateMessageParams, CreateMessageResult};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::process::Command;

use crate::args::UsageError;
use crate::exit::CliError;
use crate::words;

/// Maximum size of the answer, in bytes: that of a protocol message.
const MESSAGE_BYTES: u64 = 16 * 1024 * 1024;

/// Makes a program answer sampling requests.
///
/// # Errors
///
/// [`UsageError`] for an empty or invalid command line.
pub(super) fn with(builder: ClientBuilder, command: &str) -> Result<ClientBuilder, CliError> {
    let words = words::split(command).filter(|words| !words.is_empty());
    let words = words.ok_or_else(|| UsageError(format!("invalid command line `{command}`")))?;
    Ok(builder.on_sample_with_tools(move |params| {
        let words = words.clone();
        async move {
            sampled(&words, &params)
                .await
                .map_err(SamplingError::Failed)
        }
    }))
}

async fn sampled(
    words: &[String],
    params: &CreateMessageParams,
) -> Result<CreateMessageResult, String> {
    let request = serde_json::to_vec(params).map_err(|error| error.to_string())?;
    let answer = run(words, request)
        .await
        .map_err(|error| error.to_string())?;
    serde_json::from_slice(&answer)
        .map_err(|error| format!("the output of the program is not a message: {error}"))
}

/// Runs a program without a shell, and returns its output.
async fn run(words: &[String], input: Vec<u8>) -> std::io::Result<Vec<u8>> {
    let (program, arguments) = words.split_first().ok_or(std::io::ErrorKind::NotFound)?;
    let mut command = Command::new(program);
    command.args(arguments).kill_on_drop(true);
    command.stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command.spawn()?;
    let mut stdin = child.stdin.take();
    let write = async move {
        if let Some(stdin) = &mut stdin {
            // A program that does not read its input may still answer.
            let _ = stdin.write_all(&input).await;
        }
        drop(stdin);
    };
    let mut output = Vec::new();
    let stdout = child.stdout.take();
    let read = async {
        match stdout {
            Some(stdout) => stdout.take(MESSAGE_BYTES).read_to_end(&mut output).await,
            None => Ok(0),
        }
    };
    let ((), read) = tokio::join!(write, read);
    read?;
    let status = child.wait().await?;
    match status.success() {
        true => Ok(output),
        false => Err(std::io::Error::other(format!(
            "the program ended with {status}"
        ))),
    }
}

#[cfg(all(test, unix))]
mod tests {
    use pintle::model::SamplingMessage;

    use super::*;

    fn params() -> CreateMessageParams {
        CreateMessageParams::new(vec![SamplingMessage::user("hi")], 10)
    }

    async fn answer(script: &str) -> Result<CreateMessageResult, String> {
        let words = ["sh", "-c", script].map(str::to_owned);
        sampled(&words, &params()).await
    }

    #[tokio::test]
    async fn a_program_answers_for_a_model() {
        let script = r#"grep -q '"maxTokens":10' && echo '{"role":"assistant","model":"m","content":{"type":"text","text":"ho"}}'"#;
        let message = answer(script).await.expect("answered");
        assert_eq!(message.model, "m");
    }

    #[tokio::test]
    async fn a_failed_program_gives_no_message() {
        for (script, reason) in [
            ("exit 3", "ended with"),
            ("cat >/dev/null; echo nonsense", "not a message"),
            ("cat >/dev/null", "not a message"),
        ] {
            let error = answer(script).await.expect_err(script);
            assert!(error.contains(reason), "{script}: {error}");
        }
        let words = ["/no/such/program".to_owned()];
        assert!(sampled(&words, &params()).await.is_err());
    }
}

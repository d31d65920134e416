//! The files of the page, which are a part of the program.

/// A file of the page.
#[derive(Debug, Clone, Copy)]
pub(crate) struct File {
    pub(crate) path: &'static str,
    pub(crate) media_type: &'static str,
    pub(crate) text: &'static str,
}

const HTML: &str = "text/html; charset=utf-8";
const CSS: &str = "text/css; charset=utf-8";
const SCRIPT: &str = "text/javascript; charset=utf-8";
const SVG: &str = "image/svg+xml";

macro_rules! files {
    ($($path:literal $media_type:ident $file:literal,)*) => {
        [$(File { path: $path, media_type: $media_type, text: include_str!(concat!("../page/", $file)) },)*]
    };
}

/// All files of the page, by their paths.
pub(crate) const FILES: &[File] = &files![
    "/" HTML "index.html",
    "/page.css" CSS "page.css",
    "/icon.svg" SVG "icon.svg",
    "/js/main.js" SCRIPT "js/main.js",
    "/js/api.js" SCRIPT "js/api.js",
    "/js/app.js" SCRIPT "js/app.js",
    "/js/bench.js" SCRIPT "js/bench.js",
    "/js/checks.js" SCRIPT "js/checks.js",
    "/js/commands.js" SCRIPT "js/commands.js",
    "/js/completion.js" SCRIPT "js/completion.js",
    "/js/connection.js" SCRIPT "js/connection.js",
    "/js/content.js" SCRIPT "js/content.js",
    "/js/diff.js" SCRIPT "js/diff.js",
    "/js/dom.js" SCRIPT "js/dom.js",
    "/js/fields.js" SCRIPT "js/fields.js",
    "/js/form.js" SCRIPT "js/form.js",
    "/js/offers.js" SCRIPT "js/offers.js",
    "/js/plot.js" SCRIPT "js/plot.js",
    "/js/prompts.js" SCRIPT "js/prompts.js",
    "/js/questions.js" SCRIPT "js/questions.js",
    "/js/recording.js" SCRIPT "js/recording.js",
    "/js/resources.js" SCRIPT "js/resources.js",
    "/js/rows.js" SCRIPT "js/rows.js",
    "/js/run.js" SCRIPT "js/run.js",
    "/js/sampling.js" SCRIPT "js/sampling.js",
    "/js/signin.js" SCRIPT "js/signin.js",
    "/js/stderr.js" SCRIPT "js/stderr.js",
    "/js/table.js" SCRIPT "js/table.js",
    "/js/tasks.js" SCRIPT "js/tasks.js",
    "/js/timeline.js" SCRIPT "js/timeline.js",
    "/js/tools.js" SCRIPT "js/tools.js",
];

/// Returns the file of a path.
pub(crate) fn file(path: &str) -> Option<&'static File> {
    FILES.iter().find(|file| file.path == path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_files_are_small() {
        let bytes: usize = FILES.iter().map(|file| file.text.len()).sum();
        assert!(bytes < 200 << 10, "{bytes}");
    }

    #[test]
    fn scripts_import_files_of_the_page_only() {
        for script in FILES.iter().filter(|file| file.media_type == SCRIPT) {
            for line in script.text.lines().filter(|line| line.contains(" from ")) {
                let Some((_, name)) = line.split_once(" from \"./") else {
                    assert!(!line.starts_with("import"), "{}: {line}", script.path);
                    continue;
                };
                let name = name.trim_end_matches("\";");
                assert!(
                    file(&format!("/js/{name}")).is_some(),
                    "{}: {name}",
                    script.path
                );
            }
        }
    }

    #[test]
    fn texts_never_become_markup() {
        // Each of these turns a text into markup, a style or a script.
        let sinks = [
            "innerHTML",
            "outerHTML",
            "insertAdjacentHTML",
            "document.write",
            "eval(",
            "Function(",
            "srcdoc",
            "setHTML",
            "createContextualFragment",
            "DOMParser",
            "javascript:",
            "cssText",
            "setTimeout(\"",
        ];
        for file in FILES.iter().filter(|file| file.media_type == SCRIPT) {
            for sink in sinks {
                assert!(!file.text.contains(sink), "{} has {sink}", file.path);
            }
        }
    }

    #[test]
    fn the_document_has_no_inline_scripts_and_styles() {
        let document = file("/").expect("a document").text;
        for inline in [
            "<script>",
            "<style",
            " style=",
            " onclick",
            " onload",
            "javascript:",
        ] {
            assert!(!document.contains(inline), "{inline}");
        }
    }
}

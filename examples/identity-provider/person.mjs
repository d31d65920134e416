// Somebody who signs in: follows the pages of the provider as a browser does, fills in its forms, and
// comes back to whoever sent them.
//
//   node person.mjs URL

const cookies = new Map();

async function visit(url, form) {
  const response = await fetch(url, {
    method: form ? "POST" : "GET",
    body: form && new URLSearchParams(form),
    headers: { cookie: [...cookies].map(([name, value]) => `${name}=${value}`).join("; ") },
    redirect: "manual",
  });
  for (const line of response.headers.getSetCookie()) {
    const [name, ...value] = line.split(";")[0].split("=");
    cookies.set(name, value.join("="));
  }
  const location = response.headers.get("location");
  if (location) return visit(new URL(location, url).href);
  return { url, status: response.status, page: await response.text() };
}

let at = await visit(process.argv[2]);
while (true) {
  const action = at.page.match(/<form[^>]*action="([^"]+)"/)?.[1];
  if (!action) break;
  const prompt = at.page.match(/name="prompt" value="([^"]+)"/)[1];
  console.log(`the person sees the page of ${new URL(at.url).host}: ${prompt}`);
  at = await visit(new URL(action, at.url).href, { prompt, login: "ada", password: "any" });
}
console.log(`the person is back at ${new URL(at.url).pathname}, status ${at.status}: ${at.page}`);
process.exit(at.status === 200 ? 0 : 1);

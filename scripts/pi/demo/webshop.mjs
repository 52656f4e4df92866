// A TypeScript shop: authentication with many branches and a family of forks, a flaky test, a slow query, a bug with emoji.
import { barChart } from "../lib/png.mjs";

const cwd = "/home/demo/code/webshop";

const AUTH = `import { sign, verify } from "jsonwebtoken";
import { users } from "../db/users";

const SECRET = process.env.AUTH_SECRET ?? "change-me";

export async function login(email: string, password: string) {
  const user = await users.byEmail(email);
  if (!user || !(await user.checkPassword(password))) return null;
  return sign({ sub: user.id }, SECRET);
}

export function authenticate(token: string) {
  return verify(token, SECRET);
}
`;
const KEYS = `export interface SigningKey {
  kid: string;
  privateKey: string;
  publicKey: string;
}

export function currentKey(): SigningKey {
  return keys[0];
}
`;

function auth(s) {
	s.switchModel("claude-sonnet-4-5");
	s.thinking("medium");
	const ask = s.user("The auth module has to support several providers (password, Google, GitHub). Have a look and tell me what stands in the way.");
	s.tools(
		[
			["read", { path: "src/auth/index.ts" }, AUTH],
			["grep", { pattern: "authenticate\\(", path: "src", glob: "*.ts" }, "src/middleware/session.ts:14:  const claims = authenticate(token);\nsrc/routes/account.ts:31:  const claims = authenticate(req.cookies.token);\nsrc/routes/checkout.ts:52:  const claims = authenticate(req.cookies.token);\nsrc/ws/cart.ts:19:  const claims = authenticate(query.token);"],
		],
		{ think: "Start with the module itself and with everybody who calls it. Four callers would be manageable.", say: "I'll read the module and look for its callers." },
	);
	const options = s.say(
		`The module is small, but three things are baked in:

1. **One way in.** \`login()\` knows only e-mail and password.
2. **Tokens without an end.** \`sign()\` gets no \`expiresIn\`, so a leaked token is good for ever.
3. **A secret with a default.** \`"change-me"\` is what runs when the variable is missing.

There are two sound ways to go on:

| | Signed tokens (JWT) | Server sessions |
|---|---|---|
| Log out everywhere | needs a deny list | delete the row |
| State on the server | none | one row a login |
| Web socket in \`src/ws/cart.ts\` | works as today | needs a lookup |
| Work to do | **~1 day** | ~2 days |

Which one do you prefer?`,
		{ think: "The cart's web socket passes the token in the query string. That is one more reason to keep tokens short-lived, whichever way they choose." },
	);
	s.label(options, "decision");

	// First branch: JWT
	const jwt = s.user("Use JWT, but do it properly: short-lived access tokens, refresh tokens, key rotation.");
	const afterKeys = s.write("src/auth/keys.ts", KEYS, { say: "First the keys, so that rotation is there from the start." });
	const AUTH2 = AUTH.replace('import { users } from "../db/users";', 'import { users } from "../db/users";\nimport { currentKey, keyById } from "./keys";');
	s.edit("src/auth/index.ts", AUTH2, [
		['const SECRET = process.env.AUTH_SECRET ?? "change-me";', 'const ACCESS_TTL = "10m";\nconst REFRESH_TTL = "30d";'],
		["  return sign({ sub: user.id }, SECRET);", '  const { kid, privateKey } = currentKey();\n  return sign({ sub: user.id }, privateKey, { algorithm: "ES256", keyid: kid, expiresIn: ACCESS_TTL });'],
	]);
	s.bashFails("npm test -- auth", " FAIL  test/auth.test.ts > refresh > rejects a used refresh token\nAssertionError: expected 200 to be 401\n\n Test Files  1 failed | 3 passed (4)\n      Tests  1 failed | 22 passed (23)", 1);
	const reuse = s.say("One test fails: a refresh token can be used **twice**. That is the interesting case: a stolen token and its owner look the same. I can either\n\n- mark the token as used in the database (one write a refresh), or\n- keep a *family* of tokens and revoke the whole family on reuse, as the OAuth security guide recommends.");

	// Nested: token families
	const family = s.user("Token families. Revoke everything on reuse.");
	s.tools(
		[["write", { path: "src/auth/refresh.ts", content: `export async function rotate(token: RefreshToken) {
  const row = await refreshTokens.find(token.id);
  if (!row || row.usedAt) {
    await refreshTokens.revokeFamily(token.family);
    throw new ReuseDetected(token.family);
  }
  await refreshTokens.markUsed(row.id);
  return refreshTokens.issue({ family: token.family, user: row.userId });
}
` }, "Successfully wrote to src/auth/refresh.ts"]],
		{ think: "markUsed must be atomic, or two parallel refreshes both win: UPDATE … WHERE used_at IS NULL RETURNING id." },
	);
	const green = s.bash("npm test -- auth", " ✓ test/auth.test.ts (23 tests) 412ms\n ✓ test/refresh.test.ts (9 tests) 187ms\n\n Test Files  5 passed (5)\n      Tests  32 passed (32)");
	const works = s.say("All 32 tests pass. Reuse of a refresh token now revokes its family, and `markUsed` is one atomic statement:\n\n```sql\nUPDATE refresh_tokens SET used_at = now()\n WHERE id = $1 AND used_at IS NULL\nRETURNING id;\n```\n\nTwo tabs that refresh at the same moment are the price: the slower one is logged out. Say if you want a grace period of some seconds.");
	s.label(works, "jwt-works");
	const grace = s.user("Two tabs is our normal case 😅 add a grace period of 10 s");
	s.edit("src/auth/refresh.ts", "  const row = await refreshTokens.find(token.id);\n  if (!row || row.usedAt) {\n    await refreshTokens.revokeFamily(token.family);\n", [["  if (!row || row.usedAt) {", "  const graceMs = 10_000;\n  if (!row || (row.usedAt && Date.now() - row.usedAt.getTime() > graceMs)) {"]]);
	s.say("Done: within 10 s of its first use a token still refreshes, after that it revokes the family. I added a test with two parallel requests.");

	// Nested: database flag
	s.back(reuse);
	s.user("What would the simple variant look like, with just a used flag?");
	s.say("Much shorter, and weaker:\n\n```ts\nif (row.usedAt) throw new Unauthorized(\"token was used\");\n```\n\nThe thief who comes **first** keeps a working chain of tokens, and the owner is only asked to log in again. With families the thief is out as soon as the owner comes back. I would not ship this one.");

	// Nested one deeper: grace period on the client
	s.back(works);
	s.user("Instead of a grace period: could the tabs talk to each other?");
	s.tools([["bash", { command: "rg -n 'BroadcastChannel|navigator.locks' src/client | head" }, "(no output)"]]);
	const locks = s.say("Yes, with the [Web Locks API](https://developer.mozilla.org/docs/Web/API/Web_Locks_API), in every browser you support:\n\n```ts\nawait navigator.locks.request(\"auth-refresh\", async () => {\n  if (tokenIsFresh()) return;   // another tab was faster\n  await refresh();\n});\n```\n\nNo window on the server in which a stolen token works twice. **I like this one better** than the grace period.");
	s.label(locks, "nicest");
	s.user("So do I. Keep it in mind, we ship the grace period first.");
	s.aborted("Fine. I'll write a note to `docs/auth.md` so th");

	// Second branch: server sessions
	const summary = s.backWithSummary(
		options,
		"## Goal\nSeveral login providers for the shop.\n\n## Tried on the other branch\n- JWT with ES256 keys and rotation (`src/auth/keys.ts`)\n- Refresh tokens in families, revoked on reuse: 32 tests pass\n- Two tabs refresh at once: a grace period of 10 s, or Web Locks in the client\n\n## Open\nNobody has looked at server sessions yet.",
		{ readFiles: ["src/auth/index.ts"], modifiedFiles: ["src/auth/index.ts", "src/auth/keys.ts", "src/auth/refresh.ts"] },
	);
	const sessions = s.user("Now the same with server sessions in Postgres, so that we can compare. Keep it small.");
	s.tools([["ls", { path: "src/db" }, "migrations/\nindex.ts\nusers.ts\norders.ts"], ["find", { pattern: "*.sql", path: "src/db/migrations" }, "0001_users.sql\n0002_orders.sql\n0003_refunds.sql"]]);
	const table = s.write("src/db/migrations/0004_sessions.sql", "CREATE TABLE sessions (\n  id          bytea PRIMARY KEY,            -- sha256 of the cookie\n  user_id     bigint NOT NULL REFERENCES users ON DELETE CASCADE,\n  provider    text NOT NULL,\n  created_at  timestamptz NOT NULL DEFAULT now(),\n  expires_at  timestamptz NOT NULL\n);\nCREATE INDEX sessions_user ON sessions (user_id);\n");
	const small = s.say("That is all of it on the database side: **one table**, and the cookie's hash as its key, so that a dump of the table logs nobody in. Logging out everywhere is `DELETE FROM sessions WHERE user_id = $1`.\n\nFor the web socket one lookup at connect is enough.");
	s.label(small, "sessions-in-postgres");
	const oauth = s.user("And the providers?");
	s.say("A provider becomes an object with two functions, and the password is just one of them:\n\n```ts\ninterface Provider {\n  start(req: Request): Promise<Redirect | Form>;\n  finish(req: Request): Promise<Identity>;\n}\n```\n\n1. `finish` gives an identity: provider, subject, e-mail\n2. the identity is looked up, or linked to the user who is logged in\n3. a session row is written\n\nGoogle and GitHub come to about 40 lines each.");
	s.name("Refactor auth module");
	return { ask, options, jwt, afterKeys, reuse, family, green, works, grace, summary, sessions, table, small, oauth };
}

function redis(s) {
	const start = s.user("Before we settle on Postgres: what would we win with Redis for the session rows?");
	s.tools([["bash", { command: "psql shop -Atc \"select count(*), pg_size_pretty(pg_total_relation_size('sessions')) from sessions\"" }, "184320|41 MB"]]);
	const numbers = s.say("Less than one hopes. 184,320 rows and 41 MB fit in memory on either side.\n\n| | p50 | p99 |\n|---|---:|---:|\n| Postgres, primary key | 0.3 ms | 1.1 ms |\n| Redis | 0.1 ms | 0.4 ms |\n\nWhat you *do* win is expiry for free (`EXPIRE`) and no vacuum on a table that changes with every request.");
	const go = s.user("We have Redis for the queue anyway. Try it.");
	s.write("src/auth/store.ts", "export const store = {\n  get: (id: string) => redis.hGetAll(`session:${id}`),\n  async put(id: string, session: Session) {\n    const key = `session:${id}`;\n    await redis.multi().hSet(key, session).expire(key, TTL).exec();\n  },\n};\n");
	const done = s.say("Works. `multi()` matters: a crash between `hSet` and `expire` would leave a session that never ends.");
	s.label(done, "redis-works");
	s.name("Sessions in Redis");
	return { start, numbers, go, done };
}

function sliding(s) {
	s.thinking("low");
	s.user("Make the expiry sliding: 30 minutes idle, 12 hours at most.");
	s.edit("src/auth/store.ts", "    const key = `session:${id}`;\n    await redis.multi().hSet(key, session).expire(key, TTL).exec();\n", [["expire(key, TTL)", "expire(key, Math.min(IDLE, session.createdAt + MAX_AGE - now()))"]]);
	s.bash("npm test -- store", " ✓ test/store.test.ts (6 tests) 95ms");
	s.say("Sliding now, with the hard stop at 12 hours. One thing to know: every request **writes**. If that hurts, touch the key only when less than half of `IDLE` is left.");
	s.user("Yes, do that");
	s.fails("529 {\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\"message\":\"Overloaded\"}}");
	s.user("again");
	s.say("Done. `touch()` now returns early while more than 15 minutes are left; in the load test writes went from 1,900 to 70 a second.");
	s.name("Redis: sliding expiry");
}

function passport(s) {
	s.user("How much of this would passport.js do for us?");
	s.bash("npm view passport-google-oauth20 version time.modified dependencies --json", '{\n  "version": "2.0.0",\n  "time.modified": "2022-06-25T02:37:06.231Z",\n  "dependencies": { "passport-oauth2": "1.x.x" }\n}');
	s.say("It would do steps 1 and 2 of a provider, and bring three dependencies and a way of thinking in *strategies* for it.\n\n- **For:** 500 strategies, well-trodden\n- **Against:** callbacks instead of promises, sessions its own way, the Google strategy rests since 2022\n\nFor two providers I'd write the 80 lines.");
	s.user("convinced, thanks");
	s.say("👍 Then we go on with our own `Provider` interface.");
}

function flaky(s) {
	s.switchModel("gpt-5.2-codex");
	s.thinking("high");
	s.user("checkout.spec.ts fails about once in 20 runs in CI, never on my machine. Find out why. Don't just add a retry.");
	s.tools([["read", { path: "e2e/checkout.spec.ts", offset: 40, limit: 30 }, `test("pays with a voucher", async ({ page }) => {
  await addToCart(page, "mug");
  await page.goto("/checkout");
  await page.fill("#voucher", "WELCOME10");
  await page.click("text=Apply");
  await expect(page.locator(".total")).toHaveText("€ 8.10");
  await page.click("text=Pay");
  await expect(page).toHaveURL(/\\/thanks/);
});`], ["bash", { command: "gh run list --workflow e2e --limit 60 --json conclusion,databaseId | jq -r 'group_by(.conclusion)[] | \"\\(.[0].conclusion) \\(length)\"'" }, "failure 4\nsuccess 56"]], { think: "4 of 60. Get the traces of the four failures first; guessing is useless." });
	s.tools([["bash", { command: "for r in 8841 8857 8902 8910; do gh run view $r --log-failed | grep -m1 Expected -A1; done" }, 'Expected string: "€ 8.10"\nReceived string: "€ 9.00"\nExpected string: "€ 8.10"\nReceived string: "€ 9.00"\nExpected string: "€ 8.10"\nReceived string: "€ 9.00"\nExpected string: "€ 8.10"\nReceived string: "€ 9.00"']]);
	const same = s.say("All four failures are the same: the total stays at **€ 9.00**, so the voucher was *not applied*, rather than applied late (the assertion waits 5 s). Either the click on *Apply* is lost, or the server says no.");
	s.label(same, "symptom");
	s.tools([["grep", { pattern: "voucher", path: "src", ignoreCase: true }, "src/routes/voucher.ts:8:export async function apply(req, res) {\nsrc/client/Checkout.tsx:44:  async function applyVoucher() {\nsrc/client/Checkout.tsx:71:  <button onClick={applyVoucher} disabled={!ready}>Apply</button>\nsrc/db/vouchers.ts:12:export async function redeem(code: string, cart: number) {"], ["read", { path: "src/client/Checkout.tsx", offset: 40, limit: 35 }, `  const [total, setTotal] = useState(cart.total);
  async function applyVoucher() {
    const { total } = await api.post("/voucher", { code });
    setTotal(total);
  }

  useEffect(() => {
    api.get("/cart").then((cart) => setTotal(cart.total));
  }, []);`]]);
	const suspects = s.say("Two suspects:\n\n1. **Client:** the effect fetches the cart and calls `setTotal`. If that answer arrives *after* the voucher's, it overwrites € 8.10 with € 9.00. A race, by the look of it.\n2. **Server:** `redeem` may refuse when the cart is not stored yet.\n\nI'll check the client first.");
	const client = s.user("ok, client first");
	s.bash("npx playwright test checkout --repeat-each 40 --workers 4 2>&1 | tail -4", "  160 passed (2.9m)", { say: "Baseline on this machine: no failure in 160." });
	s.write("e2e/slow-cart.ts", "export const slowCart = (page) =>\n  page.route(\"**/api/cart\", async (route) => {\n    await new Promise((go) => setTimeout(go, 1500));\n    await route.continue();\n  });\n", { say: "Now with a cart that answers late:" });
	s.bashFails("npx playwright test checkout --repeat-each 10 2>&1 | tail -6", "  10 failed\n    [chromium] › checkout.spec.ts:41 › pays with a voucher\n    Expected string: \"€ 8.10\"\n    Received string: \"€ 9.00\"", 1);
	const reproduced = s.say("**Reproduced, 10 of 10.** A slow `/api/cart` overwrites the total. CI has two cores, so its cart answer is late now and then.\n\n```mermaid\nsequenceDiagram\n  Page->>API: GET /cart\n  Page->>API: POST /voucher\n  API-->>Page: 8.10\n  API-->>Page: 9.00 (old)\n```");
	s.label(reproduced, "reproduced!");
	const CHECKOUT = `  const [total, setTotal] = useState(cart.total);
  async function applyVoucher() {
    const { total } = await api.post("/voucher", { code });
    setTotal(total);
  }

  useEffect(() => {
    api.get("/cart").then((cart) => setTotal(cart.total));
  }, []);
`;
	s.user("nice!! fix it");
	s.edit("src/client/Checkout.tsx", CHECKOUT, [["    api.get(\"/cart\").then((cart) => setTotal(cart.total));\n  }, []);", "    const late = new AbortController();\n    api.get(\"/cart\", { signal: late.signal }).then((cart) => setTotal(cart.total));\n    return () => late.abort();\n  }, []);"]]);
	s.bashFails("npx playwright test checkout --repeat-each 10 2>&1 | tail -3", "  10 failed\n    Expected string: \"€ 8.10\"\n    Received string: \"€ 9.00\"", 1);
	s.say("My mistake: the abort happens only when the component goes away, and it does not. The order of answers has to decide nothing at all. Better: **one** source for the total.");
	s.tools([["read", { path: "src/client/useCart.ts" }, "export function useCart() {\n  return useQuery({ queryKey: [\"cart\"], queryFn: () => api.get(\"/cart\") });\n}"]], { think: "There is a query cache already. Use it: cancel the running cart query before the mutation and write its result to the cache." });
	s.edit("src/client/Checkout.tsx", CHECKOUT, [
		["  const [total, setTotal] = useState(cart.total);\n", "  const { data: cart } = useCart();\n  const total = cart?.total;\n"],
		["    const { total } = await api.post(\"/voucher\", { code });\n    setTotal(total);\n", "    await queries.cancelQueries({ queryKey: [\"cart\"] });\n    queries.setQueryData([\"cart\"], await api.post(\"/voucher\", { code }));\n"],
		["  useEffect(() => {\n    api.get(\"/cart\").then((cart) => setTotal(cart.total));\n  }, []);\n", ""],
	]);
	s.bash("npx playwright test checkout --repeat-each 40 --workers 4 2>&1 | tail -2", "  160 passed (3.4m)");
	const fixed = s.say("With the slow cart in place: **160 of 160**. The total has one owner now, the query cache, and a voucher cancels the fetch that could overwrite it.\n\n- [x] reproduced\n- [x] fixed at the cause\n- [ ] keep `slow-cart.ts` as a regression test");
	s.label(fixed, "fix");
	s.user("Keep it as a test. And is the server innocent?");
	s.read("src/db/vouchers.ts", "export async function redeem(code: string, cart: number) {\n  const voucher = await db.one(\"select * from vouchers where code = $1\", [code]);\n  if (voucher.used >= voucher.max_uses) throw new VoucherSpent(code);\n  await db.none(\"update vouchers set used = used + 1 where id = $1\", [voucher.id]);\n  await db.none(\"update carts set voucher = $1 where id = $2\", [voucher.id, cart]);\n}");
	const server = s.say("Innocent of *this* failure, guilty of another one: `redeem` reads, decides, then writes. Two customers can both take the last use of a voucher.\n\n```sql\nUPDATE vouchers SET used = used + 1\n WHERE code = $1 AND used < max_uses\nRETURNING id;\n```\n\nOne statement, no race. Shall I?");
	s.user("yes, own commit please");
	s.edit("src/db/vouchers.ts", "  const voucher = await db.one(\"select * from vouchers where code = $1\", [code]);\n  if (voucher.used >= voucher.max_uses) throw new VoucherSpent(code);\n  await db.none(\"update vouchers set used = used + 1 where id = $1\", [voucher.id]);\n", [["  const voucher = await db.one(\"select * from vouchers where code = $1\", [code]);\n  if (voucher.used >= voucher.max_uses) throw new VoucherSpent(code);\n  await db.none(\"update vouchers set used = used + 1 where id = $1\", [voucher.id]);\n", "  const voucher = await db.oneOrNone(REDEEM, [code]);\n  if (!voucher) throw new VoucherSpent(code);\n"]]);
	s.bash("git commit -qam 'Redeem a voucher in one statement' && git log --oneline -2", "5e0c1d9 Redeem a voucher in one statement\nb71fa02 Checkout: the cart query owns the total");
	const two = s.say("Two commits, both with their tests.");

	// Branch: suspect 2 first
	s.back(suspects);
	s.user("hmm, start with the server instead, support had complaints about vouchers");
	s.tools([["bash", { command: "psql shop -c \"select code, used, max_uses from vouchers where used > max_uses\"" }, "   code    | used | max_uses \n-----------+------+----------\n SUMMER24  |  503 |      500\n WELCOME10 |   12 |       10\n(2 rows)"]]);
	s.say("There it is: two vouchers were used **more often than allowed**. Not our flaky test, but a real bug that costs money. It belongs in its own session.");

	// Branch: the quick fix
	s.back(reproduced);
	s.user("What's the smallest possible fix, for the release branch?");
	s.say("A flag, three lines:\n\n```diff\n-    api.get(\"/cart\").then((cart) => setTotal(cart.total));\n+    api.get(\"/cart\").then((cart) => {\n+      if (!applied.current) setTotal(cart.total);\n+    });\n```\n\nUgly but local. Take it for 3.2.x, and the query cache for main.");
	s.user("ok");
	const hot = s.bash("git switch -q release/3.2 && git apply voucher-flag.patch && npm test 2>&1 | tail -1", "      Tests  318 passed (318)");
	s.label(hot, "hotfix 3.2.1");
	s.say("`release/3.2` has the flag, 318 tests pass.");
	s.label(hot, undefined);

	// Back to the main line
	s.back(two);
	s.wait(190);
	s.user("One more: can CI tell us when a test is flaky, *before* it annoys people?", barChart([0.1, 0.1, 0.2, 0.1, 0.3, 0.2, 0.5, 0.9, 0.7, 0.4]));
	s.tools([["read", { path: ".github/workflows/e2e.yml" }, "jobs:\n  e2e:\n    runs-on: ubuntu-latest\n    steps:\n      - uses: actions/checkout@v5\n      - run: npx playwright test --retries 2"]], { think: "The chart shows failures a week, rising since week 7. Retries hide flakiness: with --retries 2 a test that fails once is green. Record instead of hide." });
	const hide = s.say("The chart rises since week 7, and that is when `--retries 2` came in: since then a flaky test is **green**, and only a very flaky one is seen. I'd rather *record* than hide:\n\n1. keep one retry, so that nobody is blocked\n2. let a reporter write every test that needed it to `flaky.json`\n3. fail the nightly run when a test is in there three days in a row");
	s.user("Do it");
	s.write("e2e/flaky-reporter.ts", "export default class implements Reporter {\n  onTestEnd(test, result) {\n    if (result.status === \"passed\" && result.retry > 0) {\n      appendFileSync(\"flaky.json\", `${JSON.stringify({ id: test.id, title: test.title })}\\n`);\n    }\n  }\n}\n");
	s.edit(".github/workflows/e2e.yml", "    steps:\n      - uses: actions/checkout@v5\n      - run: npx playwright test --retries 2\n", [["npx playwright test --retries 2", "npx playwright test --retries 1 --reporter ./e2e/flaky-reporter.ts"]]);
	s.shell("gh workflow run e2e && sleep 200 && gh run list --limit 1", "completed  success  e2e  main  workflow_dispatch  3m12s");
	const kept = s.user("green. what did it find?");
	s.bash("gh run download --name flaky && sort flaky.json | uniq -c", "      1 {\"id\":\"c3a\",\"title\":\"search › suggests products\"}");
	s.say("One: *search › suggests products*. The same kind of race I would bet: suggestions for `mu` arrive after those for `mug`.");
	s.compact("## Goal\nFind out why `checkout.spec.ts` is flaky and fix the cause.\n\n## Done\n- Reproduced with a slow `/api/cart` (`e2e/slow-cart.ts`)\n- Fixed: the query cache owns the total (`b71fa02`)\n- Vouchers are redeemed in one statement (`5e0c1d9`)\n- CI records flaky tests (`e2e/flaky-reporter.ts`)\n\n## Next\n*search › suggests products* needed a retry: probably the same race.", kept, 148230);
	s.user("Then have a look at search, same approach");
	s.tools([["grep", { pattern: "suggest", path: "src/client" }, "src/client/Search.tsx:22:  const suggest = debounce(async (q) => setItems(await api.get(`/suggest?q=${q}`)), 120);"]]);
	s.say("Yes: answers are taken in the order in which they *arrive*. `debounce` makes that rare, not impossible.");
	s.edit("src/client/Search.tsx", "  const [q, setQ] = useState(\"\");\n  const suggest = debounce(async (q) => setItems(await api.get(`/suggest?q=${q}`)), 120);\n", [["  const suggest = debounce(async (q) => setItems(await api.get(`/suggest?q=${q}`)), 120);\n", "  const term = useDebounced(q, 120);\n  const { data: items = [] } = useQuery({ queryKey: [\"suggest\", term], queryFn: () => api.get(`/suggest?q=${term}`) });\n"]]);
	s.bash("npx playwright test search --repeat-each 60 2>&1 | tail -1", "  240 passed (2.1m)");
	const end = s.say("240 of 240. The key of the query holds the term, so a late answer lands in *its own* slot and is never shown for another term.");
	s.label(end, "done ✅");
	s.name("Flaky checkout test: a race in the total");
	s.custom("test-watch", { type: "summary", id: "run-17", passed: 240, failed: 0, slowest: ["search › suggests products", 1840] });
}

function slowQuery(s) {
	s.switchModel("claude-opus-4-5");
	s.user("The order list takes 6 seconds for our biggest customer. Here is the plan:\n\n```\nLimit  (actual time=6120.4..6120.5 rows=50)\n  ->  Sort  (actual time=6120.4..6120.4 rows=50)\n        Sort Key: o.created_at DESC\n        ->  Nested Loop  (actual time=0.1..5980.2 rows=412880)\n              ->  Index Scan using orders_customer on orders o  (rows=412880)\n              ->  Index Scan using items_order on items i  (loops=412880)\n```");
	s.say("The plan joins **412,880** orders with their items, sorts them all, and throws away all but 50. The join should come *after* the limit.\n\nTwo changes, in this order of value:\n\n1. an index that already has the order you ask for\n2. limit first, join second\n\n```sql\nCREATE INDEX CONCURRENTLY orders_customer_created\n    ON orders (customer_id, created_at DESC);\n\nWITH page AS MATERIALIZED (\n  SELECT * FROM orders\n   WHERE customer_id = $1\n   ORDER BY created_at DESC\n   LIMIT 50\n)\nSELECT p.*, i.sku, i.quantity\n  FROM page p JOIN items i ON i.order_id = p.id\n ORDER BY p.created_at DESC;\n```", { think: "412,880 loops of an index scan at 14 µs are the 5.9 s. With (customer_id, created_at desc) the limit stops after 50 index entries." });
	const index = s.user("Is the index safe on a live table with 90 M rows?");
	const safe = s.say("`CONCURRENTLY` takes no lock that blocks writes. Three things to watch:\n\n- it scans the table **twice**; plan for 10 to 20 minutes\n- it waits for transactions that are older than itself: look for *idle in transaction* first\n- when it fails it leaves an `INVALID` index behind, which has to be dropped");
	s.label(safe, "runbook");
	s.shell("psql shop -c 'create index concurrently orders_customer_created on orders (customer_id, created_at desc)'", "CREATE INDEX\nTime: 781204.118 ms (13:01.204)");
	s.shell("psql prod-ro -c '\\conninfo'", "You are connected to database \"shop\" as user \"readonly\" on host \"10.0.3.7\".", { hidden: true });
	s.user("13 minutes, no complaints. Query is at 4 ms now 🎉");
	s.say("From 6,120 ms to **4 ms**. Remember to drop the old index `orders_customer`: the new one starts with the same column and does its work too.");
	s.back(index);
	s.user("Could we page with a key instead of OFFSET while we're at it?");
	s.say("Yes, and it keeps page 2,000 as fast as page 1:\n\n```sql\nWHERE customer_id = $1\n  AND (created_at, id) < ($2, $3)\nORDER BY created_at DESC, id DESC\nLIMIT 50\n```\n\nThe client sends the last row's `created_at` and `id` back. `id` has to be in the index then.");
}

function emoji(s) {
	s.user("Product names with emoji are cut into rubbish: '👩‍🍳 Apron' becomes '👩�'. Names are cut at 3 characters on the mobile tiles (don't ask).");
	s.bash("node -p '[..."+'"👩‍🍳 Apron"'+"].length + \" \" + "+'"👩‍🍳 Apron"'+".length'", "9 11");
	s.say("`slice(0, 3)` counts UTF-16 units, and 👩‍🍳 is **five** of them: woman 👩 (2), a zero-width joiner (1), pan 🍳 (2).\n\n```ts\nconst letters = new Intl.Segmenter(\"en\", { granularity: \"grapheme\" });\n\nexport function cut(name: string, max: number) {\n  return [...letters.segment(name)].slice(0, max).map((s) => s.segment).join(\"\");\n}\n```\n\nNow `cut(\"👩‍🍳 Apron\", 3)` is `👩‍🍳 A`. Flags 🇯🇵, skin tones 👍🏽 and families 👨‍👩‍👧‍👦 work too.");
	s.user("works, even for the flag mug 🏳️‍🌈");
	s.say("Good! I left a test with all five of them in `test/cut.test.ts`.");
}

export default [
	{ key: "slow-query", cwd, at: "2026-09-14T13:05:11.203Z", tell: slowQuery, model: "claude-opus-4-5" },
	{ key: "emoji", cwd, at: "2026-10-06T15:21:40.871Z", tell: emoji },
	{ key: "auth", cwd, at: "2026-11-12T08:41:07.412Z", tell: auth },
	{ key: "redis", cwd, at: "2026-11-13T09:02:55.090Z", tell: redis, forkOf: ["auth", "small"] },
	{ key: "passport", cwd, at: "2026-11-13T14:40:19.777Z", tell: passport, forkOf: ["auth", "oauth"], model: "gpt-5.2-codex" },
	{ key: "sliding", cwd, at: "2026-11-17T10:15:33.645Z", tell: sliding, forkOf: ["redis", "go"] },
	{ key: "flaky", cwd, at: "2026-11-20T09:12:48.316Z", tell: flaky, model: "gpt-5.2-codex" },
];

// A TypeScript shop: authentication with many branches and a family of forks, a flaky test, a checkout, a review by
// subagents, and smaller tasks.
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
const E2E = `jobs:
  e2e:
    runs-on: ubuntu-latest
    steps:
      - uses: actions/checkout@v5
      - run: npx playwright test --retries 2
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
	const ask = s.user("The auth module has to support several providers (password, Google, GitHub). Have a look and tell me what makes that difficult.");
	s.tools(
		[
			["read", { path: "src/auth/index.ts" }, AUTH],
			["grep", { pattern: "authenticate\\(", path: "src", glob: "*.ts" }, "src/middleware/session.ts:14:  const claims = authenticate(token);\nsrc/routes/account.ts:31:  const claims = authenticate(req.cookies.token);\nsrc/routes/checkout.ts:52:  const claims = authenticate(req.cookies.token);\nsrc/ws/cart.ts:19:  const claims = authenticate(query.token);"],
		],
		{ think: "Start with the module itself and its callers. Four callers would be manageable.", say: "I'll read the module and look for its callers." },
	);
	const options = s.say(
		`The module is small, but three things are fixed in the code:

1. **One way to log in.** \`login()\` supports only e-mail and password.
2. **Tokens without expiry.** \`sign()\` gets no \`expiresIn\`, so a leaked token stays valid forever.
3. **A secret with a default.** \`"change-me"\` is used when the variable is missing.

There are two good options:

| | Signed tokens (JWT) | Server sessions |
|---|---|---|
| Log out everywhere | needs a deny list | delete the row |
| State on the server | none | one row per login |
| Web socket in \`src/ws/cart.ts\` | works as today | needs a lookup |
| Work to do | **~1 day** | ~2 days |

Which one do you prefer?`,
		{ think: "The cart's web socket passes the token in the query string. That is one more reason to keep tokens short-lived, whichever option they choose." },
	);
	s.label(options, "decision");

	// First branch: JWT
	const jwt = s.user("Use JWT, but do it properly: short-lived access tokens, refresh tokens, key rotation.");
	const afterKeys = s.write("src/auth/keys.ts", KEYS, { say: "First the keys, so that rotation works from the start." });
	s.has("src/auth/index.ts", AUTH);
	s.edit("src/auth/index.ts", [
		['import { users } from "../db/users";', 'import { users } from "../db/users";\nimport { currentKey, keyById } from "./keys";'],
		['const SECRET = process.env.AUTH_SECRET ?? "change-me";', 'const ACCESS_TTL = "10m";\nconst REFRESH_TTL = "30d";'],
		["  return sign({ sub: user.id }, SECRET);", '  const { kid, privateKey } = currentKey();\n  return sign({ sub: user.id }, privateKey, { algorithm: "ES256", keyid: kid, expiresIn: ACCESS_TTL });'],
	]);
	s.bashFails("npm test -- auth", " FAIL  test/auth.test.ts > refresh > rejects a used refresh token\nAssertionError: expected 200 to be 401\n\n Test Files  1 failed | 3 passed (4)\n      Tests  1 failed | 22 passed (23)", 1);
	const reuse = s.say("One test fails: a refresh token can be used **twice**. This is the interesting case: the server cannot tell a thief from the owner. I can either\n\n- mark the token as used in the database (one write per refresh), or\n- keep a *family* of tokens and revoke the whole family on reuse, as the OAuth security guide recommends.");

	// Nested: token families
	const family = s.user("Token families. Revoke everything on reuse.");
	s.write(
		"src/auth/refresh.ts",
		`export async function rotate(token: RefreshToken) {
  const row = await refreshTokens.find(token.id);
  if (!row || row.usedAt) {
    await refreshTokens.revokeFamily(token.family);
    throw new ReuseDetected(token.family);
  }
  await refreshTokens.markUsed(row.id);
  return refreshTokens.issue({ family: token.family, user: row.userId });
}
`,
		{ think: "markUsed must be atomic, or two parallel refreshes both win: UPDATE … WHERE used_at IS NULL RETURNING id." },
	);
	const green = s.bash("npm test -- auth", " ✓ test/auth.test.ts (23 tests) 412ms\n ✓ test/refresh.test.ts (9 tests) 187ms\n\n Test Files  5 passed (5)\n      Tests  32 passed (32)");
	const works = s.say("All 32 tests pass. Reuse of a refresh token now revokes its family, and `markUsed` is one atomic statement:\n\n```sql\nUPDATE refresh_tokens SET used_at = now()\n WHERE id = $1 AND used_at IS NULL\nRETURNING id;\n```\n\nThe drawback: if two tabs refresh at the same moment, the slower one is logged out. I can add a grace period of a few seconds if you like.");
	s.label(works, "jwt-works");
	const grace = s.user("Two tabs is our normal case 😅 add a grace period of 10 s");
	s.edit("src/auth/refresh.ts", [["  if (!row || row.usedAt) {", "  const graceMs = 10_000;\n  if (!row || (row.usedAt && Date.now() - row.usedAt.getTime() > graceMs)) {"]]);
	s.say("Done: within 10 s of its first use a token can still be refreshed; after that, it revokes the family. I added a test with two parallel requests.");

	// Nested: database flag
	s.back(reuse);
	s.user("What would the simple variant look like, with just a used flag?");
	s.say("Much shorter, but weaker:\n\n```ts\nif (row.usedAt) throw new Unauthorized(\"token was used\");\n```\n\nIf the thief refreshes **first**, they keep working tokens, and the owner only sees a login page. With families, the thief is logged out as soon as the owner returns. I would not ship this one.");

	// Nested one deeper: grace period on the client
	s.back(works);
	s.user("Instead of a grace period: could the tabs talk to each other?");
	s.tools([["bash", { command: "rg -n 'BroadcastChannel|navigator.locks' src/client | head" }, "(no output)"]]);
	const locks = s.say("Yes, with the [Web Locks API](https://developer.mozilla.org/docs/Web/API/Web_Locks_API), in every browser you support:\n\n```ts\nawait navigator.locks.request(\"auth-refresh\", async () => {\n  if (tokenIsFresh()) return;   // another tab was faster\n  await refresh();\n});\n```\n\nThe server never accepts a token twice, not even for a few seconds. **I prefer this** to the grace period.");
	s.label(locks, "nicest");
	s.user("Me too. Make a note, we ship the grace period first.");
	s.aborted("Good plan. I'll add a note about Web Locks to `docs/auth.md`.");

	// Second branch: server sessions
	const summary = s.backWithSummary(
		options,
		"## Goal\nSeveral login providers for the shop.\n\n## Tried on the other branch\n- JWT with ES256 keys and rotation (`src/auth/keys.ts`)\n- Refresh tokens in families, revoked on reuse: 32 tests pass\n- Two tabs refresh at once: a grace period of 10 s, or Web Locks in the client\n\n## Open\nServer sessions have not been tried yet.",
		{ readFiles: ["src/auth/index.ts"], modifiedFiles: ["src/auth/index.ts", "src/auth/keys.ts", "src/auth/refresh.ts"] },
	);
	const sessions = s.user("Now the same with server sessions in Postgres, so that we can compare. Keep it small.");
	s.tools([["ls", { path: "src/db" }, "migrations/\nindex.ts\nusers.ts\norders.ts"], ["find", { pattern: "*.sql", path: "src/db/migrations" }, "0001_users.sql\n0002_orders.sql\n0003_refunds.sql"]]);
	const table = s.write("src/db/migrations/0004_sessions.sql", "CREATE TABLE sessions (\n  id          bytea PRIMARY KEY,            -- sha256 of the cookie\n  user_id     bigint NOT NULL REFERENCES users ON DELETE CASCADE,\n  provider    text NOT NULL,\n  created_at  timestamptz NOT NULL DEFAULT now(),\n  expires_at  timestamptz NOT NULL\n);\nCREATE INDEX sessions_user ON sessions (user_id);\n");
	const small = s.say("That is all the database needs: **one table** with the hash of the cookie as its key, so nobody can log in with a dump of the table. Logging out everywhere is `DELETE FROM sessions WHERE user_id = $1`.\n\nThe web socket needs one lookup when it connects.");
	s.label(small, "sessions-in-postgres");
	const oauth = s.user("And the providers?");
	s.say("A provider becomes an object with two functions, and the password is just one of them:\n\n```ts\ninterface Provider {\n  start(req: Request): Promise<Redirect | Form>;\n  finish(req: Request): Promise<Identity>;\n}\n```\n\n1. `finish` returns an identity: provider, subject, e-mail\n2. the identity is looked up, or linked to the user who is logged in\n3. a session row is written\n\nGoogle and GitHub take about 40 lines each.");
	s.name("Refactor auth module");
	return { ask, options, jwt, afterKeys, reuse, family, green, works, grace, summary, sessions, table, small, oauth };
}

const STORE = `export const store = {
  get: (id: string) => redis.hGetAll(\`session:\${id}\`),
  async put(id: string, session: Session) {
    const key = \`session:\${id}\`;
    await redis.multi().hSet(key, session).expire(key, TTL).exec();
  },
};
`;

function redis(s) {
	const start = s.user("Before we settle on Postgres: what would we gain with Redis for the session rows?");
	s.tools([["bash", { command: "psql shop -Atc \"select count(*), pg_size_pretty(pg_total_relation_size('sessions')) from sessions\"" }, "184320|41 MB"]]);
	const numbers = s.say("Less than you might hope. 184,320 rows and 41 MB fit into memory with both.\n\n| | p50 | p99 |\n|---|---:|---:|\n| Postgres, primary key | 0.3 ms | 1.1 ms |\n| Redis | 0.1 ms | 0.4 ms |\n\nWhat you *do* gain is automatic expiry (`EXPIRE`) and no vacuum on a table that changes with every request.");
	const go = s.user("We have Redis for the queue anyway. Try it.");
	s.write("src/auth/store.ts", STORE);
	const done = s.say("It works. `multi()` matters: a crash between `hSet` and `expire` would leave a session that never expires.");
	s.label(done, "redis-works");
	s.name("Sessions in Redis");
	return { start, numbers, go, done };
}

function sliding(s) {
	s.thinking("low");
	s.user("Make the expiry sliding: 30 minutes idle, 12 hours at most.");
	s.has("src/auth/store.ts", STORE);
	s.edit("src/auth/store.ts", [["expire(key, TTL)", "expire(key, Math.min(IDLE, session.createdAt + MAX_AGE - now()))"]]);
	s.bash("npm test -- store", " ✓ test/store.test.ts (6 tests) 95ms");
	s.say("It is sliding now, with a hard stop at 12 hours. One thing to know: every request **writes**. If that is too much, touch the key only when less than half of `IDLE` is left.");
	s.user("Yes, do that");
	s.fails("529 {\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\"message\":\"Overloaded\"}}");
	s.user("again");
	s.say("Done. `touch()` now returns early while more than 15 minutes are left; in the load test writes went from 1,900 to 70 a second.");
	s.name("Redis: sliding expiry");
}

function passport(s) {
	s.user("How much of this would passport.js do for us?");
	s.bash("npm view passport-google-oauth20 version dependencies --json", '{\n  "version": "2.0.0",\n  "dependencies": { "passport-oauth2": "1.x.x" }\n}');
	s.say("It would do steps 1 and 2 of a provider. In return, you get three dependencies and the concept of *strategies*.\n\n- **For:** 500 strategies, widely used\n- **Against:** callbacks instead of promises, its own session handling, no release of the Google strategy for years\n\nFor two providers I'd write the 80 lines.");
	s.user("convinced, thanks");
	s.say("👍 Then we keep our own `Provider` interface.");
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
	const same = s.say("All four failures are the same: the total stays at **€ 9.00**, so the voucher was *not applied*, rather than applied late (the assertion waits 5 s). Either the click on *Apply* is lost, or the server rejects it.");
	s.label(same, "symptom");
	s.tools([["grep", { pattern: "voucher", path: "src", ignoreCase: true }, "src/routes/voucher.ts:8:export async function apply(req, res) {\nsrc/client/Checkout.tsx:44:  async function applyVoucher() {\nsrc/client/Checkout.tsx:71:  <button onClick={applyVoucher} disabled={!ready}>Apply</button>\nsrc/db/vouchers.ts:12:export async function redeem(code: string, cart: number) {"], ["read", { path: "src/client/Checkout.tsx", offset: 40, limit: 35 }, `  const [total, setTotal] = useState(cart.total);
  async function applyVoucher() {
    const { total } = await api.post("/voucher", { code });
    setTotal(total);
  }

  useEffect(() => {
    api.get("/cart").then((cart) => setTotal(cart.total));
  }, []);`]]);
	const suspects = s.say("Two suspects:\n\n1. **Client:** the effect fetches the cart and calls `setTotal`. If that answer arrives *after* the voucher's, it overwrites € 8.10 with € 9.00. That looks like a race.\n2. **Server:** `redeem` may fail if the cart is not stored yet.\n\nI'll check the client first.");
	const client = s.user("ok, client first");
	s.bash("npx playwright test checkout --repeat-each 40 --workers 4 2>&1 | tail -4", "  160 passed (2.9m)", { say: "Baseline on this machine: no failure in 160." });
	s.write("e2e/slow-cart.ts", "export const slowCart = (page) =>\n  page.route(\"**/api/cart\", async (route) => {\n    await new Promise((go) => setTimeout(go, 1500));\n    await route.continue();\n  });\n", { say: "Now with a delayed answer for the cart:" });
	s.bashFails("npx playwright test checkout --repeat-each 10 2>&1 | tail -6", "  10 failed\n    [chromium] › checkout.spec.ts:41 › pays with a voucher\n    Expected string: \"€ 8.10\"\n    Received string: \"€ 9.00\"", 1);
	const reproduced = s.say("**Reproduced, 10 of 10.** A slow `/api/cart` overwrites the total. CI has only two cores, so its cart answer is sometimes late.\n\n```mermaid\nsequenceDiagram\n  Page->>API: GET /cart\n  Page->>API: POST /voucher\n  API-->>Page: 8.10\n  API-->>Page: 9.00 (old)\n```");
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
	s.has("src/client/Checkout.tsx", CHECKOUT);
	s.edit("src/client/Checkout.tsx", [["    api.get(\"/cart\").then((cart) => setTotal(cart.total));\n  }, []);", "    const late = new AbortController();\n    api.get(\"/cart\", { signal: late.signal }).then((cart) => setTotal(cart.total));\n    return () => late.abort();\n  }, []);"]]);
	s.bashFails("npx playwright test checkout --repeat-each 10 2>&1 | tail -3", "  10 failed\n    Expected string: \"€ 8.10\"\n    Received string: \"€ 9.00\"", 1);
	s.say("My mistake: the request is aborted only when the component is removed, which does not happen here. The order of the answers must not matter at all. Better: **one** source for the total.");
	s.has("src/client/useCart.ts", "export function useCart() {\n  return useQuery({ queryKey: [\"cart\"], queryFn: () => api.get(\"/cart\") });\n}\n");
	s.read("src/client/useCart.ts", { think: "There is a query cache already. Use it: cancel the running cart query before the mutation and write its result to the cache." });
	s.edit("src/client/Checkout.tsx", [
		["  const [total, setTotal] = useState(cart.total);\n", "  const { data: cart } = useCart();\n  const total = cart?.total;\n"],
		["    const { total } = await api.post(\"/voucher\", { code });\n    setTotal(total);\n", "    await queries.cancelQueries({ queryKey: [\"cart\"] });\n    queries.setQueryData([\"cart\"], await api.post(\"/voucher\", { code }));\n"],
		["  useEffect(() => {\n    const late = new AbortController();\n    api.get(\"/cart\", { signal: late.signal }).then((cart) => setTotal(cart.total));\n    return () => late.abort();\n  }, []);\n", ""],
	]);
	s.bash("npx playwright test checkout --repeat-each 40 --workers 4 2>&1 | tail -2", "  160 passed (3.4m)");
	const fixed = s.say("With the slow cart: **160 of 160**. The total now has one owner, the query cache, and a voucher cancels the fetch that could overwrite it.\n\n- [x] reproduced\n- [x] fixed at the cause\n- [ ] keep `slow-cart.ts` as a regression test");
	s.label(fixed, "fix");
	s.commit("Checkout: let the cart query own the total");
	s.user("Keep it as a test. And is the server OK?");
	s.has("src/db/vouchers.ts", "export async function redeem(code: string, cart: number) {\n  const voucher = await db.one(\"select * from vouchers where code = $1\", [code]);\n  if (voucher.used >= voucher.max_uses) throw new VoucherSpent(code);\n  await db.none(\"update vouchers set used = used + 1 where id = $1\", [voucher.id]);\n  await db.none(\"update carts set voucher = $1 where id = $2\", [voucher.id, cart]);\n}\n");
	s.read("src/db/vouchers.ts");
	const server = s.say("It does not cause *this* failure, but it has another bug: `redeem` reads, decides, then writes. Two customers can both take the last use of a voucher.\n\n```sql\nUPDATE vouchers SET used = used + 1\n WHERE code = $1 AND used < max_uses\nRETURNING id;\n```\n\nOne statement, no race. Shall I?");
	s.user("yes, own commit please");
	s.edit("src/db/vouchers.ts", [["  const voucher = await db.one(\"select * from vouchers where code = $1\", [code]);\n  if (voucher.used >= voucher.max_uses) throw new VoucherSpent(code);\n  await db.none(\"update vouchers set used = used + 1 where id = $1\", [voucher.id]);\n", "  const voucher = await db.oneOrNone(REDEEM, [code]);\n  if (!voucher) throw new VoucherSpent(code);\n"]]);
	s.commit("Redeem a voucher in one statement");
	const two = s.say("Two commits, each with its tests.");

	// Branch: suspect 2 first
	s.back(suspects);
	s.user("hmm, start with the server instead, support had complaints about vouchers");
	s.tools([["bash", { command: "psql shop -c \"select code, used, max_uses from vouchers where used > max_uses\"" }, "   code    | used | max_uses \n-----------+------+----------\n SUMMER24  |  503 |      500\n WELCOME10 |   12 |       10\n(2 rows)"]]);
	s.say("Two vouchers were used **more often than allowed**. That does not explain the flaky test, but it is a real bug that costs money. It deserves its own session.");

	// Branch: the quick fix
	s.back(reproduced);
	s.user("What's the smallest possible fix, for the release branch?");
	s.say("A flag, three lines:\n\n```diff\n-    api.get(\"/cart\").then((cart) => setTotal(cart.total));\n+    api.get(\"/cart\").then((cart) => {\n+      if (!applied.current) setTotal(cart.total);\n+    });\n```\n\nNot elegant, but local. I'd use it for 3.2.x, and the query cache for main.");
	s.user("ok");
	const hot = s.bash("git switch -q release/3.2 && git apply voucher-flag.patch && npm test 2>&1 | tail -1", "      Tests  318 passed (318)");
	s.label(hot, "hotfix 3.2.1");
	s.say("`release/3.2` has the flag, 318 tests pass.");
	s.label(hot, undefined);

	// Back to the main line
	s.back(two);
	s.wait(293);
	s.user("One more: can CI tell us when a test is flaky, *before* it annoys people?", barChart([0.1, 0.1, 0.2, 0.1, 0.3, 0.2, 0.5, 0.9, 0.7, 0.4]));
	s.tools([["read", { path: ".github/workflows/e2e.yml" }, E2E]], { think: "The chart shows failures per week, and they increase from week 7 on. Retries hide flakiness: with --retries 2 a test that fails once is green. Record instead of hide." });
	const hide = s.say("Failures increase from week 7 on, which is when `--retries 2` was added. Since then, a flaky test is **green**, and only a very flaky one is noticed. I'd rather *record* than hide:\n\n1. keep one retry, so that nobody is blocked\n2. let a reporter write every test that needed a retry to `flaky.json`\n3. fail the nightly run if a test is listed three days in a row");
	s.user("Do it");
	s.write("e2e/flaky-reporter.ts", "export default class implements Reporter {\n  onTestEnd(test, result) {\n    if (result.status === \"passed\" && result.retry > 0) {\n      appendFileSync(\"flaky.json\", `${JSON.stringify({ id: test.id, title: test.title })}\\n`);\n    }\n  }\n}\n");
	s.has(".github/workflows/e2e.yml", E2E);
	s.edit(".github/workflows/e2e.yml", [["npx playwright test --retries 2", "npx playwright test --retries 1 --reporter ./e2e/flaky-reporter.ts"]]);
	s.commit("CI: record tests that needed a retry");
	s.shell("gh workflow run e2e && sleep 200 && gh run list --limit 1", "completed  success  e2e  main  workflow_dispatch  3m12s");
	const kept = s.user("green. what did it find?");
	s.bash("gh run download --name flaky && sort flaky.json | uniq -c", "      1 {\"id\":\"c3a\",\"title\":\"search › suggests products\"}");
	s.say("One: *search › suggests products*. Probably the same kind of race: suggestions for `mu` arrive after those for `mug`.");
	s.compact("## Goal\nFind out why `checkout.spec.ts` is flaky and fix the cause.\n\n## Done\n- Reproduced with a slow `/api/cart` (`e2e/slow-cart.ts`)\n- Fixed: the query cache owns the total\n- Vouchers are redeemed in one statement\n- CI records flaky tests (`e2e/flaky-reporter.ts`)\n\n## Next\n*search › suggests products* needed a retry: probably the same race.", kept, 148230);
	s.user("Then have a look at search, same approach");
	s.tools([["grep", { pattern: "suggest", path: "src/client" }, "src/client/Search.tsx:22:  const suggest = debounce(async (q) => setItems(await api.get(`/suggest?q=${q}`)), 120);"]]);
	s.say("Yes: answers are used in the order in which they *arrive*. `debounce` makes the problem rare, not impossible.");
	s.has("src/client/Search.tsx", "  const [q, setQ] = useState(\"\");\n  const suggest = debounce(async (q) => setItems(await api.get(`/suggest?q=${q}`)), 120);\n");
	s.edit("src/client/Search.tsx", [["  const suggest = debounce(async (q) => setItems(await api.get(`/suggest?q=${q}`)), 120);\n", "  const term = useDebounced(q, 120);\n  const { data: items = [] } = useQuery({ queryKey: [\"suggest\", term], queryFn: () => api.get(`/suggest?q=${term}`) });\n"]]);
	s.bash("npx playwright test search --repeat-each 60 2>&1 | tail -1", "  240 passed (2.1m)");
	s.commit("Search: key suggestions by term");
	const end = s.say("240 of 240. The query key contains the term, so a late answer is stored under *its own* term and never shown for another one.");
	s.label(end, "done ✅");
	s.name("Flaky checkout test: a race in the total");
	s.custom("test-watch", { type: "summary", id: "run-17", passed: 240, failed: 0, slowest: ["search › suggests products", 1840] });
}

function slowQuery(s) {
	s.switchModel("claude-opus-4-5");
	s.user("The order list takes 6 seconds for our biggest customer. Here is the plan:\n\n```\nLimit  (actual time=6120.4..6120.5 rows=50)\n  ->  Sort  (actual time=6120.4..6120.4 rows=50)\n        Sort Key: o.created_at DESC\n        ->  Nested Loop  (actual time=0.1..5980.2 rows=412880)\n              ->  Index Scan using orders_customer on orders o  (rows=412880)\n              ->  Index Scan using items_order on items i  (loops=412880)\n```");
	s.say("The plan joins **412,880** orders with their items, sorts all of them, and discards all but 50. The join should come *after* the limit.\n\nTwo changes, the more valuable one first:\n\n1. an index that already has the requested order\n2. limit first, join second\n\n```sql\nCREATE INDEX CONCURRENTLY orders_customer_created\n    ON orders (customer_id, created_at DESC);\n\nWITH page AS MATERIALIZED (\n  SELECT * FROM orders\n   WHERE customer_id = $1\n   ORDER BY created_at DESC\n   LIMIT 50\n)\nSELECT p.*, i.sku, i.quantity\n  FROM page p JOIN items i ON i.order_id = p.id\n ORDER BY p.created_at DESC;\n```", { think: "412,880 loops of an index scan at 14 µs are the 5.9 s. With (customer_id, created_at desc) the limit stops after 50 index entries." });
	const index = s.user("Is the index safe on a live table with 90 M rows?");
	const safe = s.say("`CONCURRENTLY` takes no lock that blocks writes. Three things to watch:\n\n- it scans the table **twice**; plan for 10 to 20 minutes\n- it waits for transactions that are older than itself: look for *idle in transaction* first\n- if it fails, it leaves an `INVALID` index behind, which must be dropped");
	s.label(safe, "runbook");
	s.shell("psql shop -c 'create index concurrently orders_customer_created on orders (customer_id, created_at desc)'", "CREATE INDEX\nTime: 781204.118 ms (13:01.204)");
	s.shell("psql prod-ro -c '\\conninfo'", "You are connected to database \"shop\" as user \"readonly\" on host \"10.0.3.7\".", { hidden: true });
	s.user("13 minutes, no complaints. Query is at 4 ms now 🎉");
	s.say("From 6,120 ms to **4 ms**. Remember to drop the old index `orders_customer`: the new one starts with the same column and replaces it.");
	s.back(index);
	s.user("Could we page with a key instead of OFFSET while we're at it?");
	s.say("Yes, and then page 2,000 is as fast as page 1:\n\n```sql\nWHERE customer_id = $1\n  AND (created_at, id) < ($2, $3)\nORDER BY created_at DESC, id DESC\nLIMIT 50\n```\n\nThe client sends the last row's `created_at` and `id` back. The index must then include `id`.");
}

function emoji(s) {
	s.user("Product names with emoji are garbled: '👩‍🍳 Apron' becomes '👩�'. Names are cut at 3 characters on the mobile tiles (don't ask).");
	s.bash("node -p '[..."+'"👩‍🍳 Apron"'+"].length + \" \" + "+'"👩‍🍳 Apron"'+".length'", "9 11");
	s.say("`slice(0, 3)` counts UTF-16 units, and 👩‍🍳 is **five** of them: woman 👩 (2), a zero-width joiner (1), pan 🍳 (2).\n\n```ts\nconst letters = new Intl.Segmenter(\"en\", { granularity: \"grapheme\" });\n\nexport function cut(name: string, max: number) {\n  return [...letters.segment(name)].slice(0, max).map((s) => s.segment).join(\"\");\n}\n```\n\nNow `cut(\"👩‍🍳 Apron\", 3)` is `👩‍🍳 A`. Flags 🇯🇵, skin tones 👍🏽 and families 👨‍👩‍👧‍👦 work too.");
	s.user("works, even for the flag mug 🏳️‍🌈");
	s.say("Good! I left a test with all five of them in `test/cut.test.ts`.");
}

const LOGIN = `import { sessions } from "../db/sessions";
import { users } from "../db/users";

export async function login(email: string, password: string) {
  const user = await users.byEmail(email);
  if (!user || !(await user.checkPassword(password))) return null;
  return sessions.create({ userId: user.id, provider: "password" });
}

export function authenticate(cookie: string) {
  return sessions.find(cookie);
}
`;

function login(s) {
	s.thinking("medium");
	s.has("src/auth/index.ts", LOGIN);
	s.has("src/routes/account.ts", "router.post(\"/login\", async (req, res) => {\n  const session = await login(req.body.email, req.body.password);\n  if (!session) return res.status(401).render(\"login\", { error: true });\n  res.cookie(\"sid\", session.cookie, COOKIE).redirect(\"/account\");\n});\n");
	s.user("Server sessions are merged. Now add \"Sign in with Google\" and \"Sign in with GitHub\" with our own Provider interface, as we planned.");
	s.read(["src/auth/index.ts", "src/routes/account.ts"], { say: "I'll read the merged version first." });
	s.write("src/auth/provider.ts", "export interface Identity {\n  provider: string;\n  subject: string;\n  email: string;\n  emailVerified: boolean;\n}\n\nexport interface Provider {\n  start(req: Request): Promise<Redirect | Form>;\n  finish(req: Request): Promise<Identity>;\n}\n");
	const plan = s.say("The plan, smallest step first:\n\n1. `Provider` and `Identity` (written)\n2. the password login as the first provider, no change in behavior\n3. `identities` table: provider, subject → user\n4. Google (OpenID Connect), then GitHub (OAuth 2)\n5. linking an identity to an existing account\n\nStep 5 has a security question, I'll ask when we get there.");
	s.label(plan, "plan");
	s.user("Good. 2 and 3.");
	s.write("src/auth/password.ts", "export const password: Provider = {\n  start: async () => form(\"login\"),\n  async finish(req) {\n    const user = await users.byEmail(req.body.email);\n    if (!user || !(await user.checkPassword(req.body.password))) throw new Unauthorized();\n    return { provider: \"password\", subject: String(user.id), email: user.email, emailVerified: user.verified };\n  },\n};\n");
	s.edit("src/auth/index.ts", [["export async function login(email: string, password: string) {\n  const user = await users.byEmail(email);\n  if (!user || !(await user.checkPassword(password))) return null;\n  return sessions.create({ userId: user.id, provider: \"password\" });\n}\n", "export const providers = { password };\n\nexport async function login(name: keyof typeof providers, req: Request) {\n  const identity = await providers[name].finish(req);\n  const user = await identities.userOf(identity);\n  return sessions.create({ userId: user.id, provider: name });\n}\n"], ["import { users } from \"../db/users\";\n", "import { identities } from \"../db/identities\";\nimport { password } from \"./password\";\n"]]);
	s.write("src/db/migrations/0005_identities.sql", "CREATE TABLE identities (\n  provider  text NOT NULL,\n  subject   text NOT NULL,\n  user_id   bigint NOT NULL REFERENCES users ON DELETE CASCADE,\n  PRIMARY KEY (provider, subject)\n);\nINSERT INTO identities SELECT 'password', id::text, id FROM users;\n");
	s.bash("npm test -- auth 2>&1 | tail -4", " ✓ test/auth.test.ts (23 tests) 402ms\n\n Test Files  1 passed (1)\n      Tests  23 passed (23)");
	s.commit("Auth: make the password login a provider");
	s.say("All 23 tests pass without changes, so the behavior is the same. Next: Google.");
	s.user("go on");
	s.write("src/auth/google.ts", "const issuer = \"https://accounts.google.com\";\n\nexport const google: Provider = {\n  async start(req) {\n    const { verifier, challenge } = await pkce();\n    const state = randomBytes(16).toString(\"base64url\");\n    await flows.put(state, { verifier, returnTo: req.query.returnTo });\n    return redirect(authorizeUrl(issuer, { state, challenge, scope: \"openid email\" }));\n  },\n  async finish(req) {\n    const flow = await flows.take(req.query.state);\n    if (!flow) throw new Unauthorized(\"unknown state\");\n    const claims = await exchange(issuer, req.query.code, flow.verifier);\n    return { provider: \"google\", subject: claims.sub, email: claims.email, emailVerified: claims.email_verified };\n  },\n};\n", { think: "Use sub, never the e-mail, as the key. State must be single use: flows.take deletes." });
	s.bashFails("npm test -- google 2>&1 | tail -8", " FAIL  test/google.test.ts > finish > rejects a state that was used before\nAssertionError: promise resolved instead of rejecting\n\n Test Files  1 failed (1)\n      Tests  1 failed | 5 passed (6)", 1);
	s.grep("async take", "src/db", "src/db/flows.ts:9:  async take(state: string) {\nsrc/db/flows.ts:10:    const flow = await db.oneOrNone(\"select * from flows where state = $1\", [state]);");
	s.say("`take` only reads, although its name promises to remove the row. One word in SQL: `delete … returning`.");
	s.has("src/db/flows.ts", "  async take(state: string) {\n    const flow = await db.oneOrNone(\"select * from flows where state = $1\", [state]);\n    return flow;\n  },\n");
	s.edit("src/db/flows.ts", [["    const flow = await db.oneOrNone(\"select * from flows where state = $1\", [state]);\n    return flow;\n", "    return db.oneOrNone(\"delete from flows where state = $1 and created_at > now() - interval '10 minutes' returning *\", [state]);\n"]]);
	s.bash("npm test -- google 2>&1 | tail -3", " Test Files  1 passed (1)\n      Tests  6 passed (6)\n   Duration  388ms");
	s.commit("Auth: sign in with Google");
	s.write("src/auth/github.ts", "export const github: Provider = {\n  start: (req) => startOAuth(req, \"https://github.com/login/oauth/authorize\", \"user:email\"),\n  async finish(req) {\n    const token = await finishOAuth(req, \"https://github.com/login/oauth/access_token\");\n    const [user, emails] = await Promise.all([api(token, \"/user\"), api(token, \"/user/emails\")]);\n    const primary = emails.find((email) => email.primary);\n    return { provider: \"github\", subject: String(user.id), email: primary.email, emailVerified: primary.verified };\n  },\n};\n");
	s.bash("npm test -- github 2>&1 | tail -3", " Test Files  1 passed (1)\n      Tests  5 passed (5)\n   Duration  290ms");
	s.commit("Auth: sign in with GitHub");
	const linking = s.say("Both providers work. Now the question about linking. A customer has an account with a password for `ada@example.com`. Now someone signs in with GitHub, with the same address. Three options:\n\n| | convenient | safe |\n|---|---|---|\n| **A** link automatically if both addresses are verified | yes | depends on the provider |\n| **B** ask for the password once, then link | almost | yes |\n| **C** create a second account | no | yes |\n\nI recommend **B**. With A, everyone who controls the mailbox at *any* provider gets the account.");
	s.label(linking, "link accounts?");
	s.user("A, but only for Google? They own gmail addresses");
	s.say("For `@gmail.com` addresses, yes: Google is the authority for them. For company domains in Google Workspace as well, as long as the `hd` claim is present. For any other address, Google only verified it at some point in the past.\n\nThat makes the rule: *A for Google if `hd` is set or the domain is gmail.com, otherwise B.* It is correct, but hard to explain to support.");
	s.back(linking);
	s.user("B for everyone. Simple rules win.");
	s.write("src/auth/link.ts", "/** Returns the user of an identity; a known e-mail address requires the password of its account once. */\nexport async function resolve(identity: Identity, req: Request) {\n  const known = await identities.find(identity);\n  if (known) return users.byId(known.userId);\n  const owner = await users.byEmail(identity.email);\n  if (!owner) return users.create(identity);\n  if (!(await owner.checkPassword(req.body.password ?? \"\"))) throw new PasswordRequired(owner);\n  await identities.link(identity, owner.id);\n  return owner;\n}\n");
	s.bash("npm test -- auth google github link 2>&1 | tail -4", " Test Files  4 passed (4)\n      Tests  41 passed (41)\n   Duration  1.02s");
	s.commit("Auth: ask for the password before linking an account");
	s.bash("npx playwright test login --reporter line 2>&1 | tail -2", "  9 passed (14.8s)");
	const end = s.say("Done. Four commits, 41 tests, and nine end-to-end tests with a fake provider. Before the release you need to create the two OAuth apps; the redirect addresses are in `docs/auth.md`.");
	s.label(end, "ready for release");
	s.user("created both. ship with 3.3");
	s.say("👍 `GOOGLE_CLIENT_ID` and `GITHUB_CLIENT_ID` are required at start now, so a missing setting fails at deployment and not at the first login.");
	s.name("Sign in with Google and GitHub");
}

const STEPS = `export function Checkout() {
  const form = useForm<Order>();
  return (
    <form onSubmit={form.handleSubmit(placeOrder)}>
      <AddressFields form={form} />
      <ShippingFields form={form} />
      <PaymentFields form={form} />
      <Summary />
      <button type="submit">Order and pay</button>
    </form>
  );
}
`;
const ORDER = `export async function placeOrder(req, res) {
  const order = await orders.create(req.body);
  await payments.charge(order);
  await mails.confirmation(order);
  res.redirect("/thanks");
}
`;

function checkout(s) {
	s.switchModel("claude-opus-4-5");
	s.thinking("high");
	s.has("src/client/checkout/Checkout.tsx", STEPS);
	s.has("src/routes/order.ts", ORDER);
	const ask = s.user("31 % of customers leave at checkout. Split the page into three steps: address, shipping, payment. The chart shows where they leave today, by field.", barChart([0.1, 0.15, 0.3, 0.2, 0.85, 0.4, 0.9, 0.95], [120, 180, 110]));
	s.read(["src/client/checkout/Checkout.tsx", "src/routes/order.ts"], { say: "I'll look at the form and at the route behind it." });
	s.tools([["ls", { path: "src/client/checkout" }, "AddressFields.tsx\nCheckout.tsx\nPaymentFields.tsx\nShippingFields.tsx\nSummary.tsx"], ["grep", { pattern: "useForm<Order>", path: "src" }, "src/client/checkout/Checkout.tsx:2:  const form = useForm<Order>();"]]);
	s.say("Two observations before we split anything:\n\n1. The chart has its peaks at fields 5, 7 and 8: **phone number, card number and the final button**. Splitting helps with the length, but not with the phone number. Why is it required?\n2. The route charges the card **inside** the request and then sends a mail. If the mail fails, the customer sees an error although they paid, and tries again.\n\nI'd fix the second one first. With steps, people will go back and forth more, so double submits become more likely.", { think: "The bars: 0.85 at index 4, 0.9 at 6, 0.95 at 7. Eight bars: name, street, zip, city, phone, shipping, card, submit." });
	s.user("The phone number was for a courier we no longer use. Remove it. And yes, fix the route first.");
	s.grep("phone", "src", "src/client/checkout/AddressFields.tsx:19:  <Field name=\"phone\" label=\"Phone\" required />\nsrc/db/orders.ts:14:  phone: string;\nsrc/mails/confirmation.tsx:33:  {order.phone && <p>{order.phone}</p>}");
	s.has("src/client/checkout/AddressFields.tsx", "      <Field name=\"city\" label=\"City\" required />\n      <Field name=\"phone\" label=\"Phone\" required />\n");
	s.edit("src/client/checkout/AddressFields.tsx", [["      <Field name=\"phone\" label=\"Phone\" required />\n", ""]]);
	s.commit("Checkout: remove the phone number");
	const route = s.say("The column stays, for old orders. Now the route. The safe order of steps:\n\n1. create the order as `pending`, with a key that the client generates\n2. charge with the same key as the *idempotency key*\n3. mark it as `paid`\n4. put the mail into the queue, do not send it in the request\n\nA second submit with the same key finds the first order and shows its result.");
	s.label(route, "idempotent order");
	s.user("yes");
	s.edit("src/routes/order.ts", [["  const order = await orders.create(req.body);\n  await payments.charge(order);\n  await mails.confirmation(order);\n  res.redirect(\"/thanks\");\n", "  const { order, isNew } = await orders.createOnce(req.body.key, req.body);\n  if (isNew || order.status === \"pending\") {\n    await payments.charge(order, { idempotencyKey: order.key });\n    await orders.markPaid(order.id);\n    await queue.add(\"confirmation\", { order: order.id }, { jobId: `confirmation-${order.id}` });\n  }\n  res.redirect(`/thanks/${order.id}`);\n"]]);
	s.write("src/db/migrations/0012_order_key.sql", "ALTER TABLE orders ADD COLUMN key uuid UNIQUE;\n-- New orders must have a key; old ones keep NULL.\nALTER TABLE orders ADD CONSTRAINT orders_key_present CHECK (key IS NOT NULL) NOT VALID;\n");
	s.write("test/order.test.ts", "test(\"two submits with one key charge once\", async () => {\n  const key = randomUUID();\n  const [a, b] = await Promise.all([submit({ key }), submit({ key })]);\n  expect(a.headers.location).toBe(b.headers.location);\n  expect(gateway.charges).toHaveLength(1);\n});\n\ntest(\"a failing mail does not fail the order\", async () => {\n  queue.failNext();\n  expect((await submit({ key: randomUUID() })).status).toBe(302);\n});\n");
	s.bashFails("npm test -- order 2>&1 | tail -9", " FAIL  test/order.test.ts > two submits with one key charge once\nAssertionError: expected [ {…}, {…} ] to have a length of 1 but got 2\n\n FAIL  test/order.test.ts > a failing mail does not fail the order\nAssertionError: expected 500 to be 302\n\n      Tests  2 failed | 12 passed (14)", 1);
	s.say("Both fail, for good reasons: two parallel requests both see `pending`, and `queue.add` throws when the queue is down. A row lock for the first, and an outbox for the second: the job is inserted in the same transaction as `markPaid`.", { think: "SELECT … FOR UPDATE on the order row. The gateway's idempotency key would protect from the double charge in production, but the fake gateway ignores it. Do both." });
	s.edit("src/routes/order.ts", [["  if (isNew || order.status === \"pending\") {\n    await payments.charge(order, { idempotencyKey: order.key });\n    await orders.markPaid(order.id);\n    await queue.add(\"confirmation\", { order: order.id }, { jobId: `confirmation-${order.id}` });\n  }\n", "  await orders.withLock(order.id, async (tx, locked) => {\n    if (locked.status !== \"pending\") return;\n    await payments.charge(locked, { idempotencyKey: locked.key });\n    await tx.markPaid(locked.id);\n    await tx.outbox(\"confirmation\", { order: locked.id });\n  });\n"], ["const { order, isNew }", "const { order }"]]);
	s.write("src/db/outbox.ts", "/** Moves jobs from the outbox table to the queue; runs every second. */\nexport async function flush() {\n  await db.tx(async (tx) => {\n    const jobs = await tx.any(\"select * from outbox order by id limit 100 for update skip locked\");\n    for (const job of jobs) await queue.add(job.name, job.data, { jobId: `${job.name}-${job.id}` });\n    await tx.none(\"delete from outbox where id = any($1)\", [jobs.map((job) => job.id)]);\n  });\n}\n");
	s.bash("npm test -- order 2>&1 | tail -3", " Test Files  1 passed (1)\n      Tests  14 passed (14)\n   Duration  1.31s");
	const safe = s.say("14 of 14. A submit can now be repeated at any time: the card is charged once and one mail is sent.");
	s.label(safe, "charged once");
	s.commit("Order: make submits idempotent, send mails through an outbox");
	const steps = s.user("Great, that alone was worth it. Now the steps. Keep one URL or one URL per step?");
	s.say("One URL per step. The back button is the most used button in a checkout, and with one URL it leaves the shop.\n\n```text\n/checkout/address → /checkout/shipping → /checkout/payment → /thanks/:id\n```\n\nThe form state lives in the session on the server, so a reload or another device continues at the same step.", { think: "Alternative: sessionStorage. Lost on another device, and Safari private mode. Server session is simple now that sessions are in Postgres." });
	s.user("ok. build it");
	s.write("src/client/checkout/steps.ts", "export const steps = [\"address\", \"shipping\", \"payment\"] as const;\nexport type Step = (typeof steps)[number];\n\n/** Returns the first step that is not complete. */\nexport function currentStep(draft: Draft): Step {\n  if (!draft.address) return \"address\";\n  if (!draft.shipping) return \"shipping\";\n  return \"payment\";\n}\n");
	s.write("src/routes/checkout-steps.ts", "router.get(\"/checkout/:step\", async (req, res) => {\n  const draft = await drafts.of(req.session);\n  const current = currentStep(draft);\n  if (steps.indexOf(req.params.step) > steps.indexOf(current)) return res.redirect(`/checkout/${current}`);\n  res.render(\"checkout\", { step: req.params.step, draft });\n});\n\nrouter.post(\"/checkout/:step\", async (req, res) => {\n  const result = schemas[req.params.step].safeParse(req.body);\n  if (!result.success) return res.status(422).render(\"checkout\", { step: req.params.step, errors: result.error });\n  const draft = await drafts.save(req.session, { [req.params.step]: result.data });\n  res.redirect(`/checkout/${currentStep(draft)}`);\n});\n");
	s.edit("src/client/checkout/Checkout.tsx", [["export function Checkout() {\n  const form = useForm<Order>();\n  return (\n    <form onSubmit={form.handleSubmit(placeOrder)}>\n      <AddressFields form={form} />\n      <ShippingFields form={form} />\n      <PaymentFields form={form} />\n      <Summary />\n      <button type=\"submit\">Order and pay</button>\n    </form>\n  );\n}\n", "const fields = { address: AddressFields, shipping: ShippingFields, payment: PaymentFields };\n\nexport function Checkout({ step, draft }: { step: Step; draft: Draft }) {\n  const form = useForm({ defaultValues: draft[step] });\n  const Fields = fields[step];\n  return (\n    <>\n      <Progress current={step} />\n      <form method=\"post\" action={`/checkout/${step}`}>\n        <Fields form={form} />\n        <button type=\"submit\">{step === \"payment\" ? \"Order and pay\" : \"Continue\"}</button>\n      </form>\n      <Summary draft={draft} />\n    </>\n  );\n}\n"]]);
	s.write("src/client/checkout/Progress.tsx", "export function Progress({ current }: { current: Step }) {\n  return (\n    <ol className=\"progress\" aria-label=\"Checkout\">\n      {steps.map((step) => (\n        <li key={step} aria-current={step === current ? \"step\" : undefined}>\n          <a href={`/checkout/${step}`}>{names[step]}</a>\n        </li>\n      ))}\n    </ol>\n  );\n}\n");
	s.bash("npm run typecheck 2>&1 | tail -4", "src/client/checkout/Summary.tsx(8,17): error TS2339: Property 'total' does not exist on type 'Draft'.\nsrc/client/checkout/PaymentFields.tsx(5,41): error TS2345: Argument of type 'UseFormReturn<PaymentInput>' is not assignable to parameter of type 'UseFormReturn<Order>'.");
	s.has("src/client/checkout/Summary.tsx", "export function Summary() {\n  const { data: cart } = useCart();\n  return <p className=\"total\">{money(cart?.total)}</p>;\n}\n");
	s.has("src/client/checkout/PaymentFields.tsx", "export function PaymentFields({ form }: { form: UseFormReturn<Order> }) {\n");
	s.edit("src/client/checkout/Summary.tsx", [["export function Summary() {\n  const { data: cart } = useCart();\n  return <p className=\"total\">{money(cart?.total)}</p>;\n", "export function Summary({ draft }: { draft: Draft }) {\n  const { data: cart } = useCart();\n  return <p className=\"total\">{money(total(cart, draft.shipping))}</p>;\n"]]);
	s.edit("src/client/checkout/PaymentFields.tsx", [["UseFormReturn<Order>", "UseFormReturn<PaymentInput>"]]);
	s.bash("npm run typecheck && npx playwright test checkout --reporter line 2>&1 | tail -7", "  11 passed\n  2 failed\n    checkout › keeps the address after a reload\n    checkout › works without JavaScript");
	s.say("11 of 13. The two failures are the interesting ones. Both have the same reason: `useForm` fills the fields in the browser, so the HTML from the server is empty.");
	s.edit("src/client/checkout/AddressFields.tsx", [["      <Field name=\"city\" label=\"City\" required />\n", "      <Field name=\"city\" label=\"City\" defaultValue={form.getValues(\"city\")} required />\n"]], { think: "Every field needs defaultValue so that server rendering includes it. Better: let Field take it from the form context once." });
	s.say("That would be needed for each of the 14 fields. Better once, in `Field` itself.");
	s.restore();
	const wait = s.say("I discarded too much: `git restore .` also dropped my changes to `Checkout`, `Summary` and `PaymentFields`, because nothing was committed yet. I'll redo them; the new files are still there.", { think: "git restore . reverts all tracked files. Checkout.tsx as well. Redo the edits and commit earlier next time." });
	s.label(wait, "oops");
	s.user("no problem, commit more often then");
	s.edit("src/client/checkout/Checkout.tsx", [["  const form = useForm<Order>();\n  return (\n    <form onSubmit={form.handleSubmit(placeOrder)}>\n      <AddressFields form={form} />\n      <ShippingFields form={form} />\n      <PaymentFields form={form} />\n      <Summary />\n      <button type=\"submit\">Order and pay</button>\n    </form>\n", "  const form = useForm({ defaultValues: draft[step] });\n  const Fields = fields[step];\n  return (\n    <FormProvider {...form}>\n      <Progress current={step} />\n      <form method=\"post\" action={`/checkout/${step}`}>\n        <Fields />\n        <button type=\"submit\">{step === \"payment\" ? \"Order and pay\" : \"Continue\"}</button>\n      </form>\n      <Summary draft={draft} />\n    </FormProvider>\n"], ["export function Checkout() {", "const fields = { address: AddressFields, shipping: ShippingFields, payment: PaymentFields };\n\nexport function Checkout({ step, draft }: { step: Step; draft: Draft }) {"]]);
	s.edit("src/client/checkout/Summary.tsx", [["export function Summary() {\n  const { data: cart } = useCart();\n  return <p className=\"total\">{money(cart?.total)}</p>;\n", "export function Summary({ draft }: { draft: Draft }) {\n  const { data: cart } = useCart();\n  return <p className=\"total\">{money(total(cart, draft.shipping))}</p>;\n"]]);
	s.commit("Checkout: one page per step");
	s.has("src/client/Field.tsx", "export function Field({ name, label, ...rest }: FieldProps) {\n  const { register } = useFormContext();\n  return <label>{label}<input {...register(name)} {...rest} /></label>;\n}\n");
	s.edit("src/client/Field.tsx", [["  const { register } = useFormContext();\n  return <label>{label}<input {...register(name)} {...rest} /></label>;\n", "  const { register, getValues, formState } = useFormContext();\n  const error = formState.errors[name];\n  return (\n    <label>\n      {label}\n      <input {...register(name)} defaultValue={getValues(name)} aria-invalid={!!error} {...rest} />\n      {error && <span role=\"alert\">{String(error.message)}</span>}\n    </label>\n  );\n"]]);
	s.bash("npm run typecheck && npx playwright test checkout --reporter line 2>&1 | tail -1", "  13 passed (21.4s)");
	s.commit("Field: render values and errors on the server");
	const green = s.say("**13 of 13**, including reload, back button and no JavaScript. Errors are announced to screen readers too (`role=\"alert\"`).");
	s.label(green, "steps work");
	s.compact("## Goal\nFewer people leave the checkout (31 %): split it into address, shipping, payment.\n\n## Done\n- Phone number removed\n- Orders are idempotent: key per submit, row lock, outbox for mails\n- One URL per step, draft in the server session\n- `Field` renders values and errors on the server\n- 14 order tests, 13 end-to-end tests\n\n## Next\n- Apple Pay and Google Pay in the payment step\n- Measure: one event per step", steps, 162118);
	s.user("Next: measure it. One event per step and field error, no personal data.");
	s.grep("track\\(", "src/client", "src/client/analytics.ts:4:export function track(name: string, data: Record<string, string | number>) {\nsrc/client/Cart.tsx:40:  track(\"cart_view\", { items: cart.items.length });");
	s.has("src/client/analytics.ts", "/** Sends an event; never waits for the answer. */\nexport function track(name: string, data: Record<string, string | number>) {\n  navigator.sendBeacon(\"/events\", JSON.stringify({ name, ...data }));\n}\n");
	s.read("src/client/analytics.ts");
	s.edit("src/client/checkout/Checkout.tsx", [["  const Fields = fields[step];\n", "  const Fields = fields[step];\n  useEffect(() => track(\"checkout_step\", { step }), [step]);\n"]]);
	s.edit("src/client/Field.tsx", [["  const error = formState.errors[name];\n", "  const error = formState.errors[name];\n  useEffect(() => {\n    if (error) track(\"field_error\", { field: name, type: error.type });\n  }, [error]);\n"]]);
	s.write("src/client/analytics.test.ts", "test(\"events contain no values of fields\", async () => {\n  const events = await recordCheckout({ street: \"Secret Street 1\", card: \"4242\" });\n  expect(JSON.stringify(events)).not.toMatch(/Secret|4242/);\n  expect(events.map((event) => event.name)).toContain(\"checkout_step\");\n});\n");
	s.bash("npm test -- analytics 2>&1 | tail -3", " Test Files  1 passed (1)\n      Tests  1 passed (1)\n   Duration  402ms");
	s.commit("Checkout: count steps and field errors");
	s.say("Events carry the step, the field name and the type of the error, never a value. The test types a street and a card number and checks that neither is sent.");
	s.user("Apple Pay / Google Pay: how much work with our payment provider?");
	s.bash("rg -n 'apiVersion|@pay' package.json src/payments | head -4", "package.json:31:    \"@pay/browser\": \"5.2.0\",\nsrc/payments/client.ts:6:const client = new Pay(process.env.PAY_SECRET, { apiVersion: \"2025-09\" });");
	s.say("Little: the *Payment Element* of version 5 shows both buttons automatically if the browser supports them. Three things remain:\n\n1. verify the domain for Apple Pay (one file in `/.well-known`)\n2. the total must be final **before** the button is shown, so shipping has to be known: true now, thanks to the steps\n3. tests: there is no Apple Pay in Chromium, so a manual test on a phone\n\nHalf a day.");
	s.user("Do 1 and 2, I'll test on my phone");
	s.write("public/.well-known/apple-developer-merchantid-domain-association", "7B227073704964223A22\n");
	s.edit("src/client/checkout/PaymentFields.tsx", [["export function PaymentFields({ form }: { form: UseFormReturn<Order> }) {\n", "export function PaymentFields() {\n  const { draft, cart } = useCheckout();\n  const amount = total(cart, draft.shipping);\n"]]);
	s.bash("npm run typecheck && npx playwright test checkout --reporter line 2>&1 | tail -1", "  13 passed (20.9s)");
	s.commit("Payment: show wallet buttons");
	s.shell("npm run preview -- --host", "  ➜  Local:   http://localhost:4173/\n  ➜  Network: http://192.168.178.31:4173/");
	s.user("Apple Pay works on my phone! The sheet shows the right total. But the Summary jumps when the button appears");
	s.say("The button is inserted after the provider's script has loaded, and everything below moves down by 48 px. Reserve the space with `min-height`, and hide it again only if no wallet is available.");
	s.has("styles/checkout.css", ".wallets { margin-block: 1rem; }\n");
	s.edit("styles/checkout.css", [[".wallets { margin-block: 1rem; }", ".wallets { margin-block: 1rem; min-height: 48px; }\n.wallets[data-available=\"none\"] { display: none; }"]]);
	s.bash("npx lighthouse http://localhost:4173/checkout/payment --only-audits=cumulative-layout-shift --quiet --output json | jq .audits[].displayValue", "\"0.001\"");
	s.commit("Payment: reserve space for wallet buttons");
	const end = s.say("Layout shift is 0.001 now (0.14 before). The branch is complete: eight commits, all tests pass.");
	s.label(end, "ready");
	s.back(green);
	s.user("What about an accordion on one page instead of three pages? Marketing asks");
	s.say("An accordion hides the length, but keeps the problems of one page: the back button leaves the shop, and errors in closed parts are invisible. Studies of checkouts (Baymard) find both patterns about equal in completion, but separate pages are simpler to measure: one event per page.\n\nIf marketing wants numbers: release the steps to 50 % of visitors for two weeks and compare.");
	s.user("good answer, I'll forward that");
	s.say("Glad it helps. For a drop from 31 % to 28 %, you need about 3,700 visitors per group to be reasonably sure (80 % power, 5 % level).");
	s.back(end);
	s.name("Checkout in three steps");
	return { ask, green, end };
}

const TOTALS = `export function totals(items: Item[]) {
  const net = items.reduce((sum, item) => sum + item.price * item.quantity, 0);
  const vat = items.reduce((sum, item) => sum + item.price * item.quantity * item.vatRate, 0);
  return { net, vat, gross: net + vat };
}
`;

function vat(s) {
	s.has("src/invoice/totals.ts", TOTALS);
	s.user("Accounting says that some invoices are off by one cent. Example: invoice 20418, VAT should be 13.07, we print 13.06.");
	s.read("src/invoice/totals.ts");
	s.bash("psql shop -Atc \"select price, quantity, vat_rate from invoice_items where invoice = 20418\"", "4.99|4|0.19\n12.95|1|0.19\n2.49|8|0.19\n19.90|1|0.07\n0.79|12|0.07\n14.50|1|0.19");
	s.bash("node -p \"[[4.99,4,.19],[12.95,1,.19],[2.49,8,.19],[19.9,1,.07],[.79,12,.07],[14.5,1,.19]].reduce((s,[p,q,r])=>s+p*q*r,0)\"", "14.8493", { think: "14.85, not 13.06. Something else differs, maybe a discount." });
	s.say("The items give 14.85, not 13.06 or 13.07. I'll look for a discount.");
	s.bash("psql shop -c \"select voucher, discount, discount_mode from invoices where id = 20418\"", "  voucher   | discount | discount_mode \n------------+----------+---------------\n MUGS-FOR-2 |     0.12 | per_item\n(1 row)");
	s.grep("discount", "src/invoice", "src/invoice/lines.ts:12:  const price = item.discountable ? item.price * (1 - invoice.discount) : item.price;\nsrc/invoice/lines.ts:13:  return { ...item, price: Math.floor(price * 100) / 100 };");
	const cause = s.say("Two bugs work together:\n\n1. `lines.ts:13` uses `Math.floor`: 12.95 less 12 % is 11.396, which becomes 11.39 instead of **11.40**. Even without a discount, `19.9 * 100` is 1989.9999999999998, so 19.90 becomes 19.89.\n2. `totals.ts` adds VAT **per item without rounding**, while accounting rounds once per VAT *rate*.\n\nThe real fix is to stop using floating point for money.");
	s.label(cause, "why 1 cent");
	s.user("What is the smallest safe way? We have price: number everywhere.");
	s.bash("rg -c 'price' src --type ts | awk -F: '{n+=$2} END {print NR \" files, \" n \" places\"}' && rg -n 'numeric|money' src/db/migrations | head -4", "38 files, 214 places\nsrc/db/migrations/0002_orders.sql:6:  price numeric(10,2) NOT NULL,\nsrc/db/migrations/0003_refunds.sql:5:  amount numeric(10,2) NOT NULL,");
	s.say("The database is fine (`numeric`). In the code, change only the arithmetic, not the 214 places:\n\n1. a branded type `Cents` with `toCents` and `fromCents` at the border\n2. `src/invoice/` calculates in cents only\n3. round once per VAT rate, half up\n\nThe rest of the shop only displays prices, which is safe with `number`.", { think: "Property: sum over rates of rounded VAT equals printed. Also credit notes: half up vs half away from zero for negative amounts." });
	s.user("go. and credit notes must mirror the invoice exactly");
	s.write("src/money.ts", "/** An amount in cents; always an integer. */\nexport type Cents = number & { readonly brand: \"cents\" };\n\nexport function toCents(amount: string | number): Cents {\n  const [, sign, whole, part = \"\"] = /^(-?)(\\d+)(?:\\.(\\d{1,2}))?$/.exec(String(amount)) ?? fail(amount);\n  return (Number(sign + \"1\") * (Number(whole) * 100 + Number(part.padEnd(2, \"0\")))) as Cents;\n}\n\n/** Multiplies by a rate in percent; rounds half away from zero, so that a credit note mirrors its invoice. */\nexport function percent(amount: Cents, rate: number): Cents {\n  const scaled = BigInt(amount) * BigInt(Math.round(rate * 100));\n  const half = scaled < 0n ? -5000n : 5000n;\n  return Number((scaled + half) / 10000n) as Cents;\n}\n");
	s.edit("src/invoice/totals.ts", [[TOTALS, "export function totals(items: Item[]) {\n  const byRate = Map.groupBy(items, (item) => item.vatRate);\n  const rates = [...byRate].map(([rate, items]) => {\n    const net = items.reduce((sum, item) => (sum + item.price * item.quantity) as Cents, 0 as Cents);\n    return { rate, net, vat: percent(net, rate) };\n  });\n  const sum = (part: \"net\" | \"vat\") => rates.reduce((sum, row) => sum + row[part], 0) as Cents;\n  return { rates, net: sum(\"net\"), vat: sum(\"vat\"), gross: (sum(\"net\") + sum(\"vat\")) as Cents };\n}\n"]]);
	s.write("test/money.test.ts", "import fc from \"fast-check\";\n\ntest(\"a credit note mirrors its invoice\", () => {\n  fc.assert(fc.property(fc.array(item()), (items) => {\n    const invoice = totals(items);\n    const credit = totals(items.map((item) => ({ ...item, quantity: -item.quantity })));\n    expect(credit.gross).toBe(-invoice.gross);\n  }));\n});\n\ntest(\"cents survive a round trip\", () => {\n  fc.assert(fc.property(fc.integer(), (cents) => toCents(fromCents(cents)) === cents));\n});\n");
	s.bashFails("npm test -- money 2>&1 | tail -9", " FAIL  test/money.test.ts > a credit note mirrors its invoice\nError: Property failed after 12 tests\nCounterexample: [[]]\nexpected -0 to be +0\n\n FAIL  test/money.test.ts > cents survive a round trip\nCounterexample: [-5]\nexpected \"0.-5\"", 1);
	s.say("Two findings of `fast-check`:\n\n- an empty invoice: `-0` is not `0`. Harmless, but it would print \"-0.00\". I'll normalize it.\n- `fromCents(-5)` returns `\"0.-5\"`. **That was in the code before**, and affects refunds below one euro.");
	s.bash("rg -n 'fromCents' src | head -3 && psql shop -Atc \"select count(*) from refunds where amount < 1\"", "src/money.ts:18:export function fromCents(cents: Cents) {\nsrc/invoice/pdf.ts:61:  text(fromCents(line.total));\nsrc/mails/refund.tsx:14:  <b>{fromCents(refund.amount)} €</b>\n37");
	s.user("37 customers got \"0.-5 €\" in a mail? 😬 fix");
	s.bash("cat >> src/money.ts <<'TS'\n\nexport function fromCents(cents: Cents) {\n  const digits = String(Math.abs(cents)).padStart(3, \"0\");\n  return `${cents < 0 ? \"-\" : \"\"}${digits.slice(0, -2)}.${digits.slice(-2)}`;\n}\nTS\nnpm test -- money invoice 2>&1 | tail -3", " Test Files  3 passed (3)\n      Tests  29 passed (29)\n   Duration  1.84s");
	s.bash("npm run invoices:compare -- --all 2>&1 | tail -5", "84112 invoices compared\n84081 identical\n31 differ by 1 cent: 20418 20977 21340 21702 22015 …\n0 differ by more", { say: "Now the comparison with all invoices ever printed, old code against new code:" });
	const compared = s.say("Of 84,112 invoices, **31 differ by one cent**, none by more. Invoice 20418 is among them and now shows 13.07. Please send accounting the list; whether they correct old invoices is their decision.");
	s.label(compared, "31 of 84,112");
	s.commit("Invoices: calculate in cents, round once per VAT rate");
	s.user("sent. They're happy: \"first time anyone gave us a list\" 😄");
	s.say("😄 The comparison is now a test: CI prints 200 old invoices and fails if one changes.");
	s.name("Invoices are off by one cent");
}

function vite(s) {
	s.has("package.json", "{ \"devDependencies\": { \"vite\": \"^5.4.19\", \"vitest\": \"^1.6.1\" } }\n");
	s.user("Upgrade Vite 5 → 7, and everything that depends on it. Small commits, tests green after each.");
	s.bash("npm ls vite --depth 1 && node --version", "webshop@3.2.0\n├── vite@5.4.19\n├─┬ vitest@1.6.1\n│ └── vite@5.4.19\n├─┬ @vitejs/plugin-react@4.3.4\n│ └── vite@5.4.19\n└─┬ vite-plugin-svgr@4.3.0\n  └── vite@5.4.19\n\nv22.20.0");
	const plan = s.say("Order of steps, so that each one can be tested alone:\n\n1. vitest 1 → 3 (works with Vite 5, 6 and 7)\n2. plugins to versions that allow Vite 6 and 7\n3. Vite 5 → 6\n4. Vite 6 → 7: needs Node 20.19 or 22.12, you have 22.20 ✓");
	s.label(plan, "4 steps");
	s.user("ok");
	s.bashFails("npm install -D vitest@3 && npm test 2>&1 | tail -8", " FAIL  test/cart.test.ts > uses fake timers\nError: vi.useFakeTimers: toFake no longer includes nextTick by default\n\n FAIL  test/mail.test.ts > spy\nTypeError: vi.fn().mockReturnValue is not a constructor\n\n      Tests  6 failed | 312 passed (318)", 1);
	s.grep("useFakeTimers|vi\\.fn\\(\\)", "test", "test/cart.test.ts:8:  vi.useFakeTimers();\ntest/mail.test.ts:5:const Mailer = vi.fn().mockReturnValue({ send });\ntest/queue.test.ts:11:  vi.useFakeTimers();");
	s.bash("sed -i 's/vi.useFakeTimers()/vi.useFakeTimers({ toFake: [\"setTimeout\", \"Date\", \"nextTick\"] })/' test/cart.test.ts test/queue.test.ts && sed -i 's/vi.fn().mockReturnValue({ send })/vi.fn(function () { this.send = send; })/' test/mail.test.ts && npm test 2>&1 | tail -2", "      Tests  318 passed (318)\n   Duration  14.02s");
	s.files.set("package.json", "{ \"devDependencies\": { \"vite\": \"^5.4.19\", \"vitest\": \"^3.2.4\" } }\n");
	s.commit("Upgrade vitest to 3");
	s.bash("npm install -D @vitejs/plugin-react@5 vite-plugin-svgr@4.5 2>&1 | tail -2 && npm test 2>&1 | tail -2", "changed 4 packages in 3s\n      Tests  318 passed (318)\n   Duration  13.88s");
	s.files.set("package.json", "{ \"devDependencies\": { \"vite\": \"^5.4.19\", \"vitest\": \"^3.2.4\", \"@vitejs/plugin-react\": \"^5.0.0\" } }\n");
	s.commit("Upgrade Vite plugins");
	s.bashFails("npm install -D vite@6 && npm run build 2>&1 | tail -6", "[vite]: Rollup failed to resolve import \"~styles/tokens.css\" from \"src/client/main.tsx\".\nThis is most likely unintended because it can break your application at runtime.\nerror during build:\nError: Build failed with 1 error", 1);
	s.has("vite.config.ts", "export default defineConfig({\n  plugins: [react(), svgr()],\n  resolve: { alias: { \"~\": \"/src/\" } },\n});\n");
	s.read("vite.config.ts");
	s.say("The alias `~` has no slash after it, so `~styles` is ambiguous. Vite 5 accepted that by accident.");
	s.edit("vite.config.ts", [["alias: { \"~\": \"/src/\" }", "alias: [{ find: /^~(?!\\/)/, replacement: \"/src/\" }]"]]);
	s.bash("npm run build 2>&1 | tail -4 && npm test 2>&1 | tail -2", "dist/assets/main-BkJ2c1.css   41.20 kB │ gzip:  8.91 kB\ndist/assets/main-D0x8fP.js   402.66 kB │ gzip: 128.04 kB\n✓ built in 6.71s\n      Tests  318 passed (318)\n   Duration  13.95s");
	s.commit("Upgrade Vite to 6");
	s.bash("npm install -D vite@7 2>&1 | tail -1 && npm run build 2>&1 | tail -3 && npm test 2>&1 | tail -2", "changed 3 packages in 4s\ndist/assets/main-Cc91aE.js   401.90 kB │ gzip: 127.81 kB\n✓ built in 6.44s\n      Tests  318 passed (318)\n   Duration  13.60s");
	s.say("Vite 7 builds without changes. One thing to decide: the default browser target is now *Baseline widely available* (Chrome 107, Safari 16). Do you still support Safari 15?");
	s.user("0.4 % of visitors. Drop it, but tell them nicely instead of a blank page");
	s.write("public/old-browser.js", "if (!(\"at\" in Array.prototype) || !CSS.supports(\"selector(:has(a))\")) {\n  document.getElementById(\"old-browser\").hidden = false;\n}\n");
	s.files.set("package.json", "{ \"devDependencies\": { \"vite\": \"^7.1.0\", \"vitest\": \"^3.2.4\", \"@vitejs/plugin-react\": \"^5.0.0\" } }\n");
	s.commit("Upgrade Vite to 7, show a notice in old browsers");
	s.say("Done: four commits, 318 tests pass after each. Visitors with an old browser see a notice with a link to the plain HTML checkout, which still works.");
	s.name("Vite 7 in four steps");
}

const SEARCH = `export async function search(q: string) {
  return db.any("select id, name from products where name ilike $1 limit 20", [\`%\${q}%\`]);
}
`;

function typos(s) {
	s.switchModel("claude-opus-4-5");
	s.has("src/db/search.ts", SEARCH);
	s.user("Product search finds nothing for \"cofee mug\" or \"t shirt\" (we have \"Coffee mug\" and \"T-Shirt\"). 8 % of all searches end with no result. What can we do, 40,000 products?");
	s.read("src/db/search.ts");
	s.bash("psql shop -Atc \"select q, count(*) from searches where hits = 0 group by 1 order by 2 desc limit 8\"", "t shirt|1204\ncofee mug|811\nsweatshirt grey|640\nhoddie|598\nnotebok|402\nmug blue|377\ntshirt|365\ngift card|340");
	s.say("The top eight show three different problems:\n\n| problem | examples | share |\n|---|---|---:|\n| typos | cofee, hoddie, notebok | 38 % |\n| word order and punctuation | t shirt, mug blue, tshirt | 41 % |\n| missing product or synonym | gift card, grey/gray | 21 % |\n\nTwo ways to solve the first two: **Postgres** (`pg_trgm` and full-text search) or a **search engine** such as Meilisearch.");
	const choice = s.user("Try Meilisearch first, I've heard good things");
	s.bash("docker run -d -p 7700:7700 getmeili/meilisearch:v1.22 && node scripts/index-products.mjs", "2c81be09aa\n40112 documents indexed in 3.9 s");
	s.write("src/search/meili.ts", "export async function search(q: string) {\n  const { hits } = await client.index(\"products\").search(q, {\n    limit: 20,\n    attributesToRetrieve: [\"id\", \"name\"],\n    matchingStrategy: \"frequency\",\n  });\n  return hits;\n}\n");
	s.bash("node scripts/replay-searches.mjs --engine meili --from searches-without-hits.csv | tail -4", "1000 queries replayed\n  912 now have hits\n  p50 4 ms, p99 11 ms\n  88 still without hits");
	const meili = s.say("**912 of 1,000** failed queries now have hits, with 4 ms at the median. The result quality is excellent. The costs:\n\n- one more service with its own data, 180 MB of memory\n- products must be synchronized: an outbox or a nightly rebuild\n- stock and prices change every minute, so results need a join with Postgres anyway");
	s.label(meili, "Meilisearch: 912");
	s.user("what happens if it's down?");
	s.bash("docker stop $(docker ps -q --filter ancestor=getmeili/meilisearch:v1.22) && curl -s -o /dev/null -w '%{http_code} %{time_total}\\n' 'http://localhost:3000/search?q=mug'", "500 0.012331");
	s.say("Then search is down, unless we keep the old query as a fallback. That means two implementations to maintain.");
	s.user("hm. I don't want to run one more service for this. Can Postgres get close?");
	s.backWithSummary(choice, "## Tried\nMeilisearch 1.22 with 40,112 products: 912 of 1,000 failed queries have hits, p50 4 ms.\n\n## Rejected because\nOne more service to run, products must be synchronized, and search is down when it is down.\n\n## Worth keeping\n`scripts/replay-searches.mjs` replays 1,000 failed queries against any engine.", { readFiles: ["src/db/search.ts"], modifiedFiles: ["src/search/meili.ts"] });
	s.user("Now with Postgres only. Same 1,000 queries.");
	s.discard();
	s.write("src/db/migrations/0013_search.sql", "CREATE EXTENSION IF NOT EXISTS pg_trgm;\nALTER TABLE products ADD COLUMN words text GENERATED ALWAYS AS (lower(regexp_replace(name, '[^[:alnum:]]+', ' ', 'g'))) STORED;\nCREATE INDEX products_words ON products USING gin (words gin_trgm_ops);\n");
	s.edit("src/db/search.ts", [[SEARCH, "export async function search(q: string) {\n  return db.any(\n    `select id, name, word_similarity($1, words) as score\n       from products\n      where $1 <% words\n      order by score desc, sold desc\n      limit 20`,\n    [normalize(q)],\n  );\n}\n"]]);
	s.bash("node scripts/replay-searches.mjs --engine postgres | tail -4", "1000 queries replayed\n  741 now have hits\n  p50 9 ms, p99 61 ms\n  259 still without hits");
	s.say("741. The rest is mostly word order: `mug blue` against \"Blue enamel mug\" has a low similarity as *one* string. If each word is compared on its own, the order does not matter.");
	s.edit("src/db/search.ts", [["    `select id, name, word_similarity($1, words) as score\n       from products\n      where $1 <% words\n      order by score desc, sold desc\n      limit 20`,\n    [normalize(q)],\n", "    `select id, name, min(word_similarity(w, words)) as score\n       from products, unnest($1::text[]) w\n      group by id, name, sold\n     having min(word_similarity(w, words)) > 0.45\n      order by score desc, sold desc\n      limit 20`,\n    [normalize(q).split(\" \")],\n"]]);
	s.bash("node scripts/replay-searches.mjs --engine postgres | tail -4", "1000 queries replayed\n  887 now have hits\n  p50 212 ms, p99 640 ms\n  113 still without hits");
	const slow = s.say("887 hits, but **212 ms**: `having` cannot use the index, so all products are compared. The condition must be in `where`, once per word, with the index operator:\n\n```sql\nwhere words %> all($1::text[])\n```", { think: "%> is the commutator of <%. `words %> ALL (array)` uses the gin index? The planner supports ScalarArrayOp with ANY for gin? ALL is not indexable. Generate one condition per word instead." });
	s.label(slow, "887, but slow");
	s.edit("src/db/search.ts", [["       from products, unnest($1::text[]) w\n      group by id, name, sold\n     having min(word_similarity(w, words)) > 0.45\n", "       from products, unnest($1::text[]) w\n      where ${terms.map((_, i) => `words %> $1[${i + 1}]`).join(\" and \")}\n      group by id, name, sold\n"], ["    [normalize(q).split(\" \")],\n", "    [terms],\n"], ["export async function search(q: string) {\n", "export async function search(q: string) {\n  const terms = normalize(q).split(\" \").slice(0, 6);\n"]], { say: "`ALL` cannot use the index either, so I generate one condition per word (at most six):" });
	s.bash("node scripts/replay-searches.mjs --engine postgres | tail -4", "1000 queries replayed\n  884 now have hits\n  p50 7 ms, p99 22 ms\n  116 still without hits");
	const good = s.say("**884 of 1,000 at 7 ms**, and no new service. Meilisearch had 912. The difference is 28 queries, mostly two typos in one word.");
	s.label(good, "Postgres: 884 at 7 ms");
	s.user("That's close enough. Synonyms?");
	s.write("src/db/migrations/0014_synonyms.sql", "CREATE TABLE synonyms (word text PRIMARY KEY, means text NOT NULL);\nINSERT INTO synonyms VALUES ('tshirt', 't shirt'), ('grey', 'gray'), ('hoody', 'hoodie'), ('tee', 't shirt');\n");
	s.bash("node scripts/replay-searches.mjs --engine postgres | tail -4", "1000 queries replayed\n  931 now have hits\n  p50 7 ms, p99 23 ms\n  69 still without hits", { say: "With a small table of synonyms, which support can edit:" });
	s.bash("npm test -- search 2>&1 | tail -3", " Test Files  1 passed (1)\n      Tests  24 passed (24)\n   Duration  702ms");
	s.commit("Search: tolerate typos, ignore word order, add synonyms");
	const best = s.say("**931 of 1,000**, more than Meilisearch without synonyms. Of the 69 that remain, 34 are \"gift card\", which you don't sell. That is a business idea, not a bug. 🙂");
	s.label(best, "931 🏆");
	s.user("haha, forwarded to the boss. How do we notice if it gets worse?");
	s.write("src/jobs/search-report.ts", "/** Every week: the 20 most frequent searches without hits. */\nexport async function searchReport() {\n  const rows = await db.any(\"select q, count(*) from searches where hits = 0 and at > now() - interval '7 days' group by 1 order by 2 desc limit 20\");\n  await mails.report(\"Searches without hits\", rows);\n}\n");
	s.commit("Report searches without hits every week");
	s.say("A weekly mail with the 20 most frequent searches without hits. The replay script runs in CI and fails below 900 of 1,000.");
	s.name("Search that forgives typos");
}

function oldApi(s) {
	s.user("Can we delete the old /v1 cart API? The new apps have used /v2 for a year. Find out who still calls it.");
	s.grep("\"/v1/", "src", "src/routes/v1/cart.ts:6:router.get(\"/v1/cart\", …\nsrc/routes/v1/cart.ts:21:router.post(\"/v1/cart/items\", …\nsrc/routes/v1/cart.ts:40:router.delete(\"/v1/cart/items/:id\", …");
	s.bash("logq 'path ~ \"^/v1/cart\" | count by user_agent' access-30d.log | head -6", "   18204  Webshop-iOS/2.8.1\n    3991  Webshop-Android/2.7.0\n     412  python-requests/2.31.0\n      77  curl/8.5.0\n      12  Googlebot/2.1", { say: "Nothing in our own code calls it. The access log of the last 30 days:" });
	s.say("Not unused: 22,696 requests in 30 days, almost all from **old app versions** that people have not updated. The interesting one is `python-requests`: a script, every two hours.");
	s.bash("logq 'path ~ \"^/v1/cart\" and user_agent ~ \"python\" | count by ip, api_key' access-30d.log", "     412  10.0.8.14  warehouse-export");
	s.user("warehouse export is ours, I'll move it to v2. How many people are on the old apps?");
	s.bash("logq 'path ~ \"^/v1/cart\" and user_agent ~ \"Webshop-\" | count by customer' access-30d.log | wc -l && psql shop -Atc \"select count(distinct customer) from orders where created_at > now() - interval '30 days'\"", "1311\n61240");
	s.bash("psql shop -Atc \"select sum(total)/100, count(*) from orders where client like 'Webshop-iOS/2.8%' and created_at > now() - interval '30 days'\"", "38412|902");
	const numbers = s.say("| | customers | orders | revenue |\n|---|---:|---:|---:|\n| old iOS app | 1,060 | 902 | € 38,412 |\n| old Android app | 251 | 118 | € 4,977 |\n| all | 61,240 | 48,105 | € 2.1 M |\n\n2 % of customers and of revenue. Deleting it today would break their cart without a message.");
	s.label(numbers, "who uses v1");
	s.user("ok so not today. What's the nicest way to get them to update?");
	s.read("src/routes/account.ts", { think: "Look at how errors are shown in old apps: they show the message of a 426 response as an alert since 2.5." });
	s.bash("git log --oneline --all -S'426' -- apps/ios | tail -2", "7b0d3aa Show the server's message when an update is required\n19c2f40 Add Webshop-iOS 2.5");
	s.say("Good news: since 2.5, both apps show the text of a `426 Upgrade Required` response and open the store. So there is a gentle way in three stages:\n\n1. **Now:** send `Deprecation` and `Sunset` headers, count callers per day\n2. **In two weeks:** answer 426 to 10 % of the requests to *add* an item, never at checkout\n3. **In six weeks:** 426 for all, then delete the code");
	s.user("I like it. Prepare stage 1.");
	s.has("src/routes/v1/cart.ts", "router.get(\"/v1/cart\", async (req, res) => {\n  res.json(await carts.of(req.customer));\n});\n");
	s.read("src/routes/v1/cart.ts");
	s.edit("src/routes/v1/cart.ts", [["router.get(\"/v1/cart\", async", "router.use(\"/v1\", (req, res, next) => {\n  res.set({ Deprecation: \"true\", Link: '</docs/v2>; rel=\"successor-version\"' });\n  metrics.count(\"v1_calls\", { client: clientOf(req) });\n  next();\n});\n\nrouter.get(\"/v1/cart\", async"]]);
	s.bash("npm test -- v1 2>&1 | tail -3", " Test Files  1 passed (1)\n      Tests  9 passed (9)\n   Duration  511ms");
	s.commit("Mark the v1 API as deprecated, count its callers");
	const ask = s.say("Stage 1 is committed. Before I prepare stage 2, I need a decision from you:\n\n**Should the 426 also be sent to customers who have items in their cart?**\n\n- **Yes:** simple, but they lose a moment of motivation, and about 40 carts per day are active in old apps\n- **No:** only customers with an empty cart see it; they update before they start to shop. Slower: about 5 weeks until 90 % have seen it\n\nI'd choose *no*. Which one do you prefer?");
	s.label(ask, "your call");
	s.name("Retire the v1 cart API");
}

const REVIEW_RUN = "8c1f0e2d";
const REVIEW_TASKS = ["Review the checkout for security problems: authorization, injection, idempotency, secrets in logs. Report file and line, no style remarks.", "Review the checkout for performance: queries per request, missing indexes, bundle size. Measure, do not guess.", "Review the checkout for accessibility: keyboard, screen reader, contrast, error messages. Use axe and read the markup."];
const REPORTS = ["**2 findings**\n\n1. **High** `src/routes/checkout-steps.ts:11`: the draft is read from the session, but `POST /checkout/payment` accepts `shipping` in its body, so a customer can set their own shipping price. Validate with `schemas.payment.strict()`.\n2. **Low** `src/payments/client.ts:31`: the card brand and the last 4 digits are logged at level info.\n\nNo injection, no missing authorization: every route goes through `authenticate`.", "**2 findings**\n\n1. `GET /checkout/shipping` runs **14 queries**, 12 of them for shipping prices, one per method. One query with `= any($1)` takes 3 ms instead of 41 ms.\n2. `@pay/browser` (62 kB) is loaded on all three steps, but used only in the last one. A dynamic import saves 62 kB on the first page.", "**3 findings**\n\n1. After an error the focus stays on the button. Move it to the first invalid field.\n2. `.progress a` has a contrast of 3.9:1 on the gray background; 4.5:1 is required.\n3. The total is updated without an announcement. Add `aria-live=\"polite\"`.\n\nKeyboard order and labels are correct on all three pages."];

const REVIEWERS = [
	{
		model: "claude-sonnet-4-5",
		tell(s) {
			s.task(REVIEW_TASKS[0]);
			s.read(["src/routes/checkout-steps.ts", "src/routes/order.ts"]);
			s.grep("schemas", "src", "src/routes/checkout-steps.ts:9:  const result = schemas[req.params.step].safeParse(req.body);\nsrc/client/checkout/schemas.ts:3:export const schemas = {");
			s.bash("sed -n 1,20p src/client/checkout/schemas.ts", "import { z } from \"zod\";\n\nexport const schemas = {\n  address: z.object({ name: z.string(), street: z.string(), zip: z.string(), city: z.string() }),\n  shipping: z.object({ method: z.enum([\"post\", \"express\", \"pickup\"]), price: z.number() }),\n  payment: z.object({ method: z.string(), key: z.uuid() }).passthrough(),\n};", { think: "passthrough() on payment: unknown fields survive, including shipping.price. And price comes from the client in the shipping step." });
			s.bash("curl -s -X POST localhost:3000/checkout/payment -H 'content-type: application/json' -b \"$COOKIE\" -d '{\"method\":\"invoice\",\"key\":\"'$(uuidgen)'\",\"shipping\":{\"price\":0}}' -o /dev/null -w '%{http_code} %{redirect_url}' && psql shop -Atc 'select shipping_price from orders order by id desc limit 1'", "302 http://localhost:3000/thanks/90112\n0", { say: "I can confirm it on the development server:" });
			s.grep("log\\.(info|debug)", "src/payments", "src/payments/client.ts:31:  log.info(\"charged\", { brand: card.brand, last4: card.last4, order: order.id });");
			s.grep("router\\.(get|post)", "src/routes/checkout-steps.ts", "src/routes/checkout-steps.ts:1:router.get(\"/checkout/:step\", …\nsrc/routes/checkout-steps.ts:8:router.post(\"/checkout/:step\", …");
			s.say(REPORTS[0]);
		},
	},
	{
		model: "gpt-5.2-codex",
		tell(s) {
			s.task(REVIEW_TASKS[1]);
			s.bash("node scripts/count-queries.mjs /checkout/address /checkout/shipping /checkout/payment", "/checkout/address    3 queries    4 ms\n/checkout/shipping  14 queries   41 ms\n/checkout/payment    4 queries    6 ms");
			s.grep("shippingPrice", "src", "src/shipping/prices.ts:7:  for (const method of methods) prices.push(await shippingPrice(method, cart));");
			s.bash("psql shop -c \"explain (analyze, costs off) select * from shipping_prices where method = any('{post,express,pickup}') and zone = 'DE'\" | head -4", " Index Scan using shipping_prices_pkey on shipping_prices (actual time=0.021..0.038 rows=12)\n   Index Cond: ((method = ANY ('{post,express,pickup}'::text[])) AND (zone = 'DE'::text))\n Planning Time: 0.112 ms\n Execution Time: 0.061 ms");
			s.bash("npx vite build --mode analyze | grep -E 'checkout|pay' ", "dist/assets/checkout-a81c.js   118.40 kB │ gzip: 39.20 kB\n  └ @pay/browser               62.11 kB");
			s.say(REPORTS[1]);
		},
	},
	{
		model: "gemini-3-pro",
		tell(s) {
			s.task(REVIEW_TASKS[2]);
			s.read(["src/client/checkout/Progress.tsx", "src/client/Field.tsx", "src/client/checkout/Summary.tsx"]);
			s.bash("npx playwright test a11y --grep checkout --reporter line 2>&1 | tail -6", "  2 passed\n  1 failed\n    color-contrast: .progress a\n      #767f8c on #eef0f3, 3.9:1, expected 4.5:1");
			s.bash("npx playwright test keyboard --grep checkout --reporter line 2>&1 | tail -5", "  8 passed\n  1 failed\n    focus after an error\n      expected: input[name=zip]\n      focused:  button[type=submit]");
			s.bashFails("npx guidepup run checkout.spec.ts", "Error: no screen reader available on this platform", 1);
			s.say(REPORTS[2]);
		},
	},
];

function review(s) {
	s.user("Before we release the new checkout: three independent reviews in parallel, security, performance and accessibility.");
	const tasks = REVIEW_TASKS.map((task) => ({ agent: "reviewer", task }));
	const output = REPORTS.map((report, i) => `=== Parallel Task ${i + 1} (reviewer) ===\n${report}`).join("\n\n");
	const results = tasks.map(({ agent, task }, i) => ({ agent, task, exitCode: 0, sessionFile: s.file.replace(/\.jsonl$/, `/${REVIEW_RUN}/run-${i}/session.jsonl`) }));
	s.tools([["subagent", { tasks }, `3/3 succeeded\n\n${output}`, { mode: "parallel", runId: REVIEW_RUN, results }]], { say: "I'll start three reviewers, each with its own session." });
	const sum = s.say("Seven findings. My order:\n\n| # | finding | effort |\n|---|---|---|\n| 1 | 🔴 customers can set their own shipping price | 10 min |\n| 2 | focus stays on the button after an error | 10 min |\n| 3 | 14 queries in the shipping step | 20 min |\n| 4 | payment script on all steps | 5 min |\n| 5 | contrast, live region, log level | 10 min |\n\nNumber 1 must be fixed before the release. I reproduced it: an order with free express shipping.");
	s.label(sum, "7 findings");
	s.user("😳 glad we asked. Fix all of them, 1 first, separate commit.");
	s.has("src/client/checkout/schemas.ts", "export const schemas = {\n  shipping: z.object({ method: z.enum([\"post\", \"express\", \"pickup\"]), price: z.number() }),\n  payment: z.object({ method: z.string(), key: z.uuid() }).passthrough(),\n};\n");
	s.edit("src/client/checkout/schemas.ts", [["  shipping: z.object({ method: z.enum([\"post\", \"express\", \"pickup\"]), price: z.number() }),\n  payment: z.object({ method: z.string(), key: z.uuid() }).passthrough(),\n", "  shipping: z.strictObject({ method: z.enum([\"post\", \"express\", \"pickup\"]) }),\n  payment: z.strictObject({ method: z.string(), key: z.uuid() }),\n"]]);
	s.bash("npm test -- checkout order 2>&1 | tail -3", " Test Files  3 passed (3)\n      Tests  36 passed (36)\n   Duration  2.20s");
	s.commit("Checkout: never take the shipping price from the client");
	s.read("src/client/Field.tsx");
	s.edit("src/client/checkout/Summary.tsx", [["<p className=\"total\">", "<p className=\"total\" aria-live=\"polite\">"]]);
	s.write("src/shipping/prices.ts", "export async function prices(methods: Method[], cart: Cart) {\n  const rows = await db.any(\"select * from shipping_prices where method = any($1) and zone = $2\", [methods, cart.zone]);\n  return methods.map((method) => priceFor(rows, method, cart.weight));\n}\n");
	s.bash("node scripts/count-queries.mjs /checkout/shipping && npx playwright test a11y keyboard --grep checkout --reporter line 2>&1 | tail -1", "/checkout/shipping  3 queries    5 ms\n  12 passed (11.3s)");
	s.commit("Checkout: fewer queries, focus and contrast");
	s.say("All seven are fixed: 14 → 3 queries, 62 kB less on the first page, and all 12 accessibility tests pass.");
	s.name("Review before the release (3 agents)");
}

function satisfies(s) {
	s.user("What does `satisfies` do in TypeScript that a type annotation doesn't?");
	s.say("An annotation **replaces** the inferred type, `satisfies` only **checks** it:\n\n```ts\nconst a: Record<string, string | number> = { port: 80 };\na.port.toFixed();   // error: string | number\n\nconst b = { port: 80 } satisfies Record<string, string | number>;\nb.port.toFixed();   // fine: number\nb.prot;             // error: no such property\n```\n\nUse it for configuration objects and lookup tables: you get the check *and* keep the exact keys and types.");
	s.user("so `as const satisfies X` for our step names?");
	s.say("Exactly:\n\n```ts\nexport const steps = [\"address\", \"shipping\", \"payment\"] as const satisfies readonly string[];\ntype Step = (typeof steps)[number]; // \"address\" | \"shipping\" | \"payment\"\n```");
}


export default [
	{ key: "slow-query", cwd, at: "2026-10-14T13:05:11.203Z", tell: slowQuery, model: "claude-opus-4-5" },
	{ key: "auth", cwd, at: "2026-11-12T08:41:07.412Z", tell: auth },
	{ key: "redis", cwd, at: "2026-11-13T09:02:55.090Z", tell: redis, forkOf: ["auth", "small"] },
	{ key: "satisfies", cwd, at: "2026-11-13T11:20:44.008Z", tell: satisfies, model: "gemini-3-pro" },
	{ key: "passport", cwd, at: "2026-11-13T14:40:19.777Z", tell: passport, forkOf: ["auth", "oauth"], model: "gpt-5.2-codex" },
	{ key: "checkout", cwd, at: "2026-11-16T08:31:26.540Z", tell: checkout, model: "claude-opus-4-5" },
	{ key: "emoji", cwd, at: "2026-11-16T15:21:40.871Z", tell: emoji },
	{ key: "vite", cwd, at: "2026-11-17T13:10:58.226Z", tell: vite, model: "gpt-5.2-codex" },
	{ key: "vat", cwd, at: "2026-11-18T09:05:14.693Z", tell: vat },
	{ key: "login", cwd, at: "2026-11-18T13:22:09.351Z", tell: login },
	{ key: "typos", cwd, at: "2026-11-19T08:40:37.119Z", tell: typos, model: "claude-opus-4-5" },
	{ key: "review", cwd, at: "2026-11-19T13:02:20.466Z", tell: review },
	...REVIEWERS.map((reviewer, index) => ({ key: `review-${index}`, cwd, at: `2026-11-19T13:05:4${3 + index}.120Z`, tell: reviewer.tell, model: reviewer.model, subagentOf: ["review", REVIEW_RUN, index] })),
	{ key: "flaky", cwd, at: "2026-11-20T09:12:48.316Z", tell: flaky, model: "gpt-5.2-codex" },
	{ key: "old-api", cwd, at: "2026-11-20T11:10:05.582Z", tell: oldApi },
	{ key: "sliding", cwd, at: "2026-11-20T13:45:33.645Z", tell: sliding, forkOf: ["redis", "go"] },
];

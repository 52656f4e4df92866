// Operations: Terraform drift, an incident at night, a certificate, a session that came to nothing.
const cwd = "/home/demo/ops/infra";

function drift(s) {
	s.switchModel("claude-sonnet-4-5");
	s.thinking("medium");
	s.user("`terraform plan` on prod wants to replace the load balancer. Nobody touched it. What happened?");
	s.tools([["bash", { command: "terraform plan -no-color -lock=false | grep -E '^ +# |forces replacement'" }, "  # aws_lb.shop must be replaced\n      ~ subnets = [ # forces replacement\n  # aws_security_group_rule.legacy will be destroyed"], ["bash", { command: "git log --oneline -5 -- modules/lb" }, "9c41d77 lb: fourth subnet for eu-central-1c\n1f0be32 lb: TLS 1.3 policy"]], { say: "First what forces it, then who changed it." });
	const why = s.say("Somebody did touch it: `9c41d77` added a **fourth subnet**, and it was applied by hand in the console *in another order*. The provider compares a list where AWS keeps a set.\n\n| in the code | in AWS |\n|---|---|\n| `a, b, c, d` | `a, b, d, c` |\n\nNothing has to be replaced.", { think: "Never apply this plan: replacing the LB changes its DNS name and takes the shop down for minutes." });
	s.label(why, "cause");
	const how = s.user("How do I get out of this without downtime?");
	s.tools([["grep", { pattern: "subnets", path: "modules/lb" }, "modules/lb/main.tf:12:  subnets            = [for s in var.subnets : s.id]"]]);
	s.edit("modules/lb/main.tf", "resource \"aws_lb\" \"shop\" {\n  name               = \"shop\"\n  load_balancer_type = \"application\"\n  subnets            = [for s in var.subnets : s.id]\n}\n", [["  subnets            = [for s in var.subnets : s.id]\n}", "  subnets            = toset([for s in var.subnets : s.id])\n\n  lifecycle {\n    prevent_destroy = true\n  }\n}"]]);
	s.bash("terraform plan -no-color -lock=false | tail -2", "No changes. Your infrastructure matches the configuration.");
	const clean = s.say("The plan is clean. `prevent_destroy` stays as a belt: the next plan that wants to replace the balancer **fails** instead of waiting for a tired `yes`.");
	s.label(clean, "clean plan");
	s.back(how);
	s.user("alternative: ignore_changes on subnets?");
	s.say("It would silence the plan, and hide the day on which a subnet *really* is missing. I'd use `toset`.");
	s.backWithSummary(clean, "`ignore_changes` was discussed and turned down: it hides real drift.");
	s.user("Add a nightly drift check to CI");
	s.write(".github/workflows/drift.yml", "on:\n  schedule:\n    - cron: \"17 3 * * *\"\njobs:\n  drift:\n    runs-on: ubuntu-latest\n    steps:\n      - uses: actions/checkout@v5\n      - run: terraform plan -lock=false -detailed-exitcode\n");
	s.say("`-detailed-exitcode` gives 2 when there is drift, so the job turns red by itself. It runs at 03:17 with read-only credentials.");
	s.name("Terraform drift on the load balancer");
}

function incident(s) {
	s.user("PAGE: disk full on db-2, writes failing. 3 am. Be brief.");
	s.tools([["bash", { command: "ssh db-2 'df -h /var/lib/postgresql; du -sh /var/lib/postgresql/17/main/pg_wal'" }, "/dev/nvme1n1  500G  500G   0  100% /var/lib/postgresql\n371G\t/var/lib/postgresql/17/main/pg_wal"]]);
	s.say("WAL has grown to **371 GB**: something holds it back, most likely a dead replication slot. **Do not delete anything in `pg_wal` by hand.**");
	s.bash("ssh db-2 \"psql -Atc 'select slot_name, active, pg_size_pretty(pg_wal_lsn_diff(pg_current_wal_lsn(), restart_lsn)) from pg_replication_slots'\"", "analytics|f|368 GB\nreplica_3|t|16 MB");
	const slot = s.say("Slot `analytics` is inactive and holds 368 GB. Dropping it frees the disk at the next checkpoint; analytics needs a new base copy then.\n\n```sql\nSELECT pg_drop_replication_slot('analytics');\nCHECKPOINT;\n```\n\nRun it?");
	s.label(slot, "root cause");
	s.user("YES");
	s.fails("Connection error: fetch failed (ETIMEDOUT)");
	s.user("yes!!");
	s.bash("ssh db-2 \"psql -c \\\"select pg_drop_replication_slot('analytics')\\\" -c checkpoint\" && ssh db-2 df -h /var/lib/postgresql", "CHECKPOINT\n/dev/nvme1n1  500G  131G  369G  27% /var/lib/postgresql");
	s.say("27 %. Writes are back since 03:19.");
	s.wait(380);
	s.user("Morning. Write the post-mortem, half a page.");
	s.say("# Disk full on db-2, 24 October\n\n**Impact:** no orders for 22 minutes (02:57 to 03:19).\n\n**Cause:** the replication slot `analytics` lost its consumer on Tuesday. Postgres kept all WAL for it until the disk was full.\n\n**What went well**\n- found in four minutes, nothing deleted by hand\n\n**What we change**\n1. `max_slot_wal_keep_size = 100GB`: a slot may die, the database may not\n2. alert on inactive slots after 1 hour\n3. disk alert at 70 %, not at 90 %");
	s.user("translate the impact line for the German team");
	s.say("**Auswirkung:** 22 Minuten lang keine Bestellungen (02:57 bis 03:19 Uhr).");
	s.user("and");
	s.aborted();
	s.name("🔥 db-2 disk full (24 Oct)");
}

function certificate(s) {
	s.user("is the cert of api.shop.example renewed? it expires on friday");
	s.bash("echo | openssl s_client -connect api.shop.example:443 2>/dev/null | openssl x509 -noout -enddate", "notAfter=Nov 27 08:12:44 2026 GMT");
	s.say("Not yet: it ends on **27 November**, 08:12 UTC. The timer ran, but the DNS challenge fails since the token was rotated:\n\n```\nacme: error 403 :: unauthorized :: no TXT record at _acme-challenge.api\n```");
	s.user("new token is in the vault under dns/acme");
	s.bash("vault kv get -field=token dns/acme | systemctl-secret acme && systemctl start acme-renew && journalctl -u acme-renew -n1 -o cat", "renewed api.shop.example until 2027-02-16");
	s.say("Renewed until 16 February. I'd add an alert at 14 days; this was close.");
}

function quota(s) {
	s.user("Estimate what moving the build runners to spot instances would save.");
	s.fails("429 {\"error\":{\"message\":\"You exceeded your current quota, please check your plan and billing details.\",\"type\":\"insufficient_quota\"}}");
}

export default [
	{ key: "quota", cwd, at: "2026-09-29T11:48:20.007Z", tell: quota, model: "gpt-5.2-codex" },
	{ key: "incident", cwd, at: "2026-10-24T01:03:12.559Z", tell: incident },
	{ key: "drift", cwd, at: "2026-11-03T08:20:39.218Z", tell: drift },
	{ key: "certificate", cwd, at: "2026-11-18T12:33:01.666Z", tell: certificate },
];

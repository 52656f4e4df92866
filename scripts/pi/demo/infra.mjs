// Operations: Terraform drift, an incident with its follow-up, backups, Kubernetes, CI.
const cwd = "/home/demo/ops/infra";

function drift(s) {
	s.switchModel("claude-sonnet-4-5");
	s.thinking("medium");
	s.user("`terraform plan` on prod wants to replace the load balancer. Nobody touched it. What happened?");
	s.tools([["bash", { command: "terraform plan -no-color -lock=false | grep -E '^ +# |forces replacement'" }, "  # aws_lb.shop must be replaced\n      ~ subnets = [ # forces replacement\n  # aws_security_group_rule.legacy will be destroyed"], ["bash", { command: "git log --oneline -5 -- modules/lb" }, "9c41d77 lb: fourth subnet for eu-central-1c\n1f0be32 lb: TLS 1.3 policy"]], { say: "First I'll check what forces the replacement, then who changed it." });
	const why = s.say("Somebody did touch it: `9c41d77` added a **fourth subnet**, and it was applied by hand in the console, *in a different order*. The provider compares a list, but AWS stores a set.\n\n| in the code | in AWS |\n|---|---|\n| `a, b, c, d` | `a, b, d, c` |\n\nNothing has to be replaced.", { think: "Never apply this plan: replacing the LB changes its DNS name and takes the shop down for minutes." });
	s.label(why, "cause");
	const how = s.user("How do I get out of this without downtime?");
	s.grep("subnets", "modules/lb", "modules/lb/main.tf:12:  subnets            = [for s in var.subnets : s.id]");
	s.has("modules/lb/main.tf", "resource \"aws_lb\" \"shop\" {\n  name               = \"shop\"\n  load_balancer_type = \"application\"\n  subnets            = [for s in var.subnets : s.id]\n}\n");
	s.edit("modules/lb/main.tf", [["  subnets            = [for s in var.subnets : s.id]\n}", "  subnets            = toset([for s in var.subnets : s.id])\n\n  lifecycle {\n    prevent_destroy = true\n  }\n}"]]);
	s.bash("terraform plan -no-color -lock=false | tail -2", "No changes. Your infrastructure matches the configuration.");
	const clean = s.say("The plan is clean. I'd keep `prevent_destroy` as a second safeguard: the next plan that wants to replace the load balancer **fails** instead of waiting for a tired `yes`.");
	s.label(clean, "clean plan");
	s.back(how);
	s.user("alternative: ignore_changes on subnets?");
	s.say("It would silence the plan, but it would also hide it when a subnet *really* is missing. I'd use `toset`.");
	s.backWithSummary(clean, "`ignore_changes` was discussed and rejected: it hides real drift.");
	s.user("Add a nightly drift check to CI");
	s.write(".github/workflows/drift.yml", "on:\n  schedule:\n    - cron: \"17 3 * * *\"\njobs:\n  drift:\n    runs-on: ubuntu-latest\n    steps:\n      - uses: actions/checkout@v5\n      - run: terraform plan -lock=false -detailed-exitcode\n");
	s.commit("lb: compare subnets as a set, check drift every night");
	s.say("`-detailed-exitcode` returns 2 if there is drift, so the job fails by itself. It runs every night with read-only credentials.");
	s.name("Terraform drift on the load balancer");
}

const REPORT = "# Disk full on db-2\n\n**Impact:** no orders for 22 minutes.\n\n**Cause:** the replication slot `analytics` lost its consumer three days earlier. Postgres kept all WAL for it until the disk was full.\n\n**What went well**\n- found in four minutes, nothing deleted by hand\n\n**What we change**\n1. `max_slot_wal_keep_size = 100GB`: a slot may become invalid, the database must keep running\n2. alert on inactive slots after 1 hour\n3. disk alert at 70 % instead of 90 %\n";

function incident(s) {
	s.user("PAGE: disk full on db-2, writes failing. Middle of the night. Be brief.");
	s.tools([["bash", { command: "ssh db-2 'df -h /var/lib/postgresql; du -sh /var/lib/postgresql/17/main/pg_wal'" }, "/dev/nvme1n1  500G  500G   0  100% /var/lib/postgresql\n371G\t/var/lib/postgresql/17/main/pg_wal"]]);
	s.say("WAL has grown to **371 GB**: something prevents its removal, most likely an unused replication slot. **Do not delete anything in `pg_wal` by hand.**");
	s.bash("ssh db-2 \"psql -Atc 'select slot_name, active, pg_size_pretty(pg_wal_lsn_diff(pg_current_wal_lsn(), restart_lsn)) from pg_replication_slots'\"", "analytics|f|368 GB\nreplica_3|t|16 MB");
	const slot = s.say("Slot `analytics` is inactive and holds 368 GB. Dropping it frees the disk at the next checkpoint; analytics then needs a new base backup.\n\n```sql\nSELECT pg_drop_replication_slot('analytics');\nCHECKPOINT;\n```\n\nRun it?");
	s.label(slot, "root cause");
	s.user("YES");
	s.fails("Connection error: fetch failed (ETIMEDOUT)");
	s.user("yes!!");
	s.bash("ssh db-2 \"psql -c \\\"select pg_drop_replication_slot('analytics')\\\" -c checkpoint\" && ssh db-2 df -h /var/lib/postgresql", "CHECKPOINT\n/dev/nvme1n1  500G  131G  369G  27% /var/lib/postgresql");
	s.say("27 %. Writes work again; they failed for 22 minutes.");
	s.wait(380);
	s.user("Slept. Write the post-mortem, half a page.");
	s.write("postmortems/db-2-disk-full.md", REPORT);
	const report = s.say(REPORT);
	s.user("translate the impact line for the German team");
	s.say("**Auswirkung:** 22 Minuten lang waren keine Bestellungen möglich.");
	s.commit("Post-mortem: disk full on db-2");
	s.user("and");
	s.aborted();
	s.name("🔥 db-2 disk full");
	return { report };
}

const ALERTS = `groups:
  - name: disks
    rules:
      - alert: DiskAlmostFull
        expr: node_filesystem_avail_bytes / node_filesystem_size_bytes < 0.1
        for: 10m
        labels: { severity: page }
`;

function slots(s) {
	s.has("monitoring/alerts.yml", ALERTS);
	s.has("postgres/postgresql.conf", "wal_level = logical\nmax_replication_slots = 10\nmax_slot_wal_keep_size = -1\n");
	s.user("Implement the three changes from the post-mortem. One commit each.");
	s.read(["monitoring/alerts.yml", "postgres/postgresql.conf"], { say: "I'll start with the current alerts and the Postgres settings." });
	s.edit("postgres/postgresql.conf", [["max_slot_wal_keep_size = -1", "max_slot_wal_keep_size = 100GB"]]);
	s.commit("postgres: limit the WAL that a slot can keep to 100 GB");
	s.bash("ssh db-2 \"psql -c 'select pg_reload_conf()' -Atc 'show max_slot_wal_keep_size'\"", "100GB");
	s.say("Change 1 is active; it needs a reload only. A slot that falls more than 100 GB behind becomes `lost`, and its consumer needs a new base backup. That is the trade-off we want.");
	s.bash("curl -s db-2:9187/metrics | grep '^pg_replication_slot' | head", "pg_replication_slot_slot_is_active{slot_name=\"replica_3\"} 1\npg_replication_slot_slot_current_wal_lsn{slot_name=\"replica_3\"} 7.8142e+12\npg_replication_slots_pg_wal_lsn_diff{slot_name=\"replica_3\"} 1.6777e+07", { say: "Change 2: which metrics does the exporter provide?" });
	s.edit("monitoring/alerts.yml", [["        labels: { severity: page }\n", "        labels: { severity: page }\n\n  - name: postgres\n    rules:\n      - alert: ReplicationSlotInactive\n        expr: pg_replication_slot_slot_is_active == 0\n        for: 1h\n        labels: { severity: page }\n        annotations:\n          summary: \"Slot {{ $labels.slot_name }} has no consumer; its WAL fills the disk\"\n          runbook: postmortems/db-2-disk-full.md\n"]]);
	s.bash("promtool check rules monitoring/alerts.yml", "Checking monitoring/alerts.yml\n  SUCCESS: 2 rules found");
	s.write("monitoring/tests/slots.yml", "rule_files: [../alerts.yml]\ntests:\n  - interval: 5m\n    input_series:\n      - series: 'pg_replication_slot_slot_is_active{slot_name=\"analytics\"}'\n        values: \"1 1 0x14\"\n    alert_rule_test:\n      - eval_time: 60m\n        alertname: ReplicationSlotInactive\n        exp_alerts: []\n      - eval_time: 75m\n        alertname: ReplicationSlotInactive\n        exp_alerts:\n          - exp_labels: { severity: page, slot_name: analytics }\n");
	s.bashFails("promtool test rules monitoring/tests/slots.yml", "Unit Testing: monitoring/tests/slots.yml\n  FAILED:\n    alertname: ReplicationSlotInactive, time: 75m,\n        exp:[Labels:{severity=\"page\", slot_name=\"analytics\"}]\n        got:[Labels:{severity=\"page\", slot_name=\"analytics\"}, Annotations:{runbook=\"postmortems/db-2-disk-full.md\", summary=\"Slot analytics has no consumer; its WAL fills the disk\"}]", 1);
	s.say("The alert fires at the right time. The test must also list the annotations.");
	s.edit("monitoring/tests/slots.yml", [["          - exp_labels: { severity: page, slot_name: analytics }\n", "          - exp_labels: { severity: page, slot_name: analytics }\n            exp_annotations:\n              summary: Slot analytics has no consumer; its WAL fills the disk\n              runbook: postmortems/db-2-disk-full.md\n"]]);
	s.bash("promtool test rules monitoring/tests/slots.yml", "Unit Testing: monitoring/tests/slots.yml\n  SUCCESS");
	s.commit("monitoring: page if a replication slot is inactive for an hour");
	s.edit("monitoring/alerts.yml", [["      - alert: DiskAlmostFull\n        expr: node_filesystem_avail_bytes / node_filesystem_size_bytes < 0.1\n        for: 10m\n        labels: { severity: page }\n", "      - alert: DiskFillingUp\n        expr: node_filesystem_avail_bytes / node_filesystem_size_bytes < 0.3\n        for: 10m\n        labels: { severity: ticket }\n      - alert: DiskFullSoon\n        expr: predict_linear(node_filesystem_avail_bytes[6h], 12 * 3600) < 0\n        for: 30m\n        labels: { severity: page }\n"]], { think: "A fixed 70 % page would fire for disks that sit at 75 % for months. Make it a ticket, and page on the trend." });
	s.bash("promtool check rules monitoring/alerts.yml && promtool query instant http://prometheus:9090 'ALERTS{alertname=~\"Disk.*\"}'", "Checking monitoring/alerts.yml\n  SUCCESS: 3 rules found\nALERTS{alertname=\"DiskFillingUp\", instance=\"ci-1\"} => 1");
	const trend = s.say("I changed the third one slightly, please check: a page at 70 % would wake you for disks that have been at 75 % for months (`ci-1` for example). Now:\n\n- **ticket** at 70 %\n- **page** if the trend of 6 hours says *full within 12 hours*\n\nDuring the incident, the page would have come 9 hours earlier.");
	s.label(trend, "trend alert");
	s.user("Much better. commit");
	s.commit("monitoring: alert on the trend of disk usage");
	s.say("Three commits, all rules tested. `ci-1` got its first ticket already: old Docker images, 80 GB.");
	s.user("prune those images too then, weekly timer");
	s.write("roles/ci/files/docker-prune.timer", "[Timer]\nOnCalendar=weekly\nRandomizedDelaySec=1h\nPersistent=true\n\n[Install]\nWantedBy=timers.target\n");
	s.bash("ansible-playbook ci.yml --limit ci-1 --check --diff | tail -4", "changed: [ci-1]\n\nPLAY RECAP\nci-1 : ok=31 changed=2 unreachable=0 failed=0 skipped=4");
	s.commit("ci: prune Docker images every week");
	s.say("The timer is in the role. The check run shows two changes on `ci-1` and none on the other hosts.");
	s.name("Alerts after the db-2 incident");
}

function certificate(s) {
	s.user("is the cert of api.shop.example renewed? it expires next week");
	s.bash("echo | openssl s_client -connect api.shop.example:443 2>/dev/null | openssl x509 -noout -checkend 864000", "Certificate will expire");
	s.bash("systemctl status acme-renew | grep -m1 error", "acme: error 403 :: unauthorized :: no TXT record at _acme-challenge.api");
	s.say("Not yet: it expires in less than ten days. The timer ran, but the DNS challenge has failed since the token was rotated:\n\n```\nacme: error 403 :: unauthorized :: no TXT record at _acme-challenge.api\n```");
	s.user("new token is in the vault under dns/acme");
	s.bash("vault kv get -field=token dns/acme | systemctl-secret acme && systemctl start acme-renew && journalctl -u acme-renew -n1 -o cat", "renewed api.shop.example, valid for 90 days");
	s.say("Renewed for 90 days. I'd add an alert at 14 days; this was close.");
}

function quota(s) {
	s.user("Estimate what moving the build runners to spot instances would save.");
	s.fails("429 {\"error\":{\"message\":\"You exceeded your current quota, please check your plan and billing details.\",\"type\":\"insufficient_quota\"}}");
}

function restore(s) {
	s.switchModel("claude-sonnet-4-5");
	s.user("We have nightly backups but nobody has ever restored one. Set up an automatic restore test: newest backup of the shop database → throwaway container → some checks.");
	s.bash("crontab -l -u backup && ls -la scripts/", "30 2 * * * /opt/backup/run-shop.sh\n\n-rwxr-xr-x 1 backup backup  412 run-shop.sh\n-rw-r--r-- 1 backup backup  198 retention.txt", { say: "I'll look at how the backups are made." });
	s.has("scripts/run-shop.sh", "#!/bin/sh\npg_dump -Fc shop > /backup/shop.dump\naws s3 cp /backup/shop.dump s3://shop-backups/$(date +%F).dump\nrm /backup/shop.dump\n");
	s.read("scripts/run-shop.sh");
	const problems = s.say("Before testing the restore: this script has three problems of its own.\n\n1. **No `set -e`.** If `pg_dump` fails, an empty file is uploaded, and the job succeeds.\n2. The dump is written to the disk of the database server, next to the data.\n3. Nothing checks the size of the upload.\n\nA restore test will find 1 and 3. I'd fix 2 in the same change by streaming.");
	s.label(problems, "3 problems");
	const go = s.user("Oh no. Is the newest one even valid? Check that first.");
	s.bash("aws s3 ls s3://shop-backups/ --human-readable | tail -5 | awk '{print $3, $4}'", "6.1 GiB\n6.1 GiB\n6.2 GiB\n0 Bytes\n6.2 GiB");
	const empty = s.say("The newest is 6.2 GiB, but the one before it is **0 bytes**. So problem 1 already happened, two nights ago, and nobody noticed.");
	s.label(empty, "0 bytes!");
	s.bash("aws s3 cp s3://shop-backups/$(aws s3 ls s3://shop-backups/ | tail -1 | awk '{print $4}') - | pg_restore --list | tail -3", "4812; 0 0 ACL public TABLE orders shop\n4813; 0 0 ACL public TABLE items shop\n4814; 0 0 ACL public TABLE vouchers shop");
	s.say("The newest dump has a complete table of contents (4,814 entries). Good, so you have one valid backup. Now the test.");
	s.user("ok go");
	s.write("scripts/restore-test.sh", "#!/usr/bin/env bash\n# Restores the newest backup into a throwaway container and checks it.\nset -euo pipefail\n\nkey=$(aws s3 ls s3://shop-backups/ | tail -1 | awk '{print $4}')\ndocker run --rm -d --name restore-test -e POSTGRES_PASSWORD=test postgres:17\ntrap 'docker stop restore-test' EXIT\naws s3 cp \"s3://shop-backups/$key\" - | docker exec -i restore-test pg_restore -U postgres -d postgres --no-owner --exit-on-error\n");
	s.bashFails("bash scripts/restore-test.sh", "6f1a0c2b7d\npg_restore: error: connection to server on socket \"/var/run/postgresql/.s.PGSQL.5432\" failed: No such file or directory\n\tIs the server running locally and accepting connections on that socket?", 1);
	s.say("The container needs some seconds before Postgres accepts connections. `pg_isready` in a loop, with a limit.");
	s.edit("scripts/restore-test.sh", [["trap 'docker stop restore-test' EXIT\n", "trap 'docker stop restore-test' EXIT\nfor _ in $(seq 30); do\n\tdocker exec restore-test pg_isready -q -h 127.0.0.1 && break\n\tsleep 1\ndone\n"]], { think: "Check over TCP: during initialization the image starts a temporary server on the socket only. With -h 127.0.0.1 we wait for the real one." });
	s.bashFails("bash scripts/restore-test.sh", "a83c11d09e\nfatal error: Unable to locate credentials", 1);
	s.user("it runs from my shell, the credentials are in the environment");
	s.bash("env | grep -i -E 'aws|pg'", "PGHOST=db-2\nPGUSER=backup\nPGPASSWORD=t7Kq-mZ4v9Rw2xPj\nAWS_PROFILE=shop\nAWS_REGION=eu-central-1");
	const leak = s.say("⚠️ That printed the database password into this session, my mistake. It is now in the session file and was sent to the model provider. **Please rotate it**: `ALTER ROLE backup PASSWORD …`, and `pitree secrets scrub` for this session.\n\nThe real reason for the error: `sudo` removes the variables. The test should use its own role with read access to this bucket only.");
	s.label(leak, "rotate this password");
	s.user("ugh. rotated. yes, own role");
	s.write("iam/restore-test.json", "{\n  \"Version\": \"2012-10-17\",\n  \"Statement\": [\n    { \"Effect\": \"Allow\", \"Action\": [\"s3:ListBucket\"], \"Resource\": \"arn:aws:s3:::shop-backups\" },\n    { \"Effect\": \"Allow\", \"Action\": [\"s3:GetObject\"], \"Resource\": \"arn:aws:s3:::shop-backups/*\" }\n  ]\n}\n");
	s.bash("time bash scripts/restore-test.sh", "c5d90e7f21\ndownload: s3://shop-backups/ to -\n\nreal\t7m41.208s");
	const restored = s.say("Restored in 7 min 41 s. That is also your recovery time for the database, which nobody knew before today. Now the checks:\n\n| check | why |\n|---|---|\n| rows in `orders`, `items`, `users` ≥ 99 % of production | empty or old dump |\n| newest order is at most 30 h old | the backup stopped |\n| all constraints are valid | `pg_restore` continued after an error |\n| 5 known orders have the right total | corrupt data |");
	s.label(restored, "restore: 7m41s");
	s.user("Great list. All four. And alert if the test did not run for 2 days.");
	s.write("scripts/restore-checks.sql", "\\set ON_ERROR_STOP on\nSELECT count(*) >= :min_orders AS enough_orders FROM orders \\gset\n\\if :enough_orders\n\\else\n  \\echo 'too few orders' \\q 1\n\\endif\nSELECT max(created_at) > now() - interval '30 hours' AS fresh FROM orders \\gset\nSELECT count(*) = 0 AS valid FROM pg_constraint WHERE NOT convalidated \\gset\n");
	s.edit("scripts/restore-test.sh", [["--no-owner --exit-on-error\n", "--no-owner --exit-on-error\ndocker exec -i restore-test psql -U postgres -v min_orders=\"$MIN_ORDERS\" < scripts/restore-checks.sql\ncurl -fsS --retry 3 \"https://hc.example/ping/$CHECK_ID\"\n"]]);
	s.bash("MIN_ORDERS=90000000 bash scripts/restore-test.sh && echo passed", "e01b7d33c8\npassed");
	s.bash("MIN_ORDERS=990000000 bash scripts/restore-test.sh; echo \"exit $?\"", "77c2f90a1b\ntoo few orders\nexit 1", { say: "And does it fail when it should? With a number that cannot be reached:" });
	s.commit("backup: restore test with checks");
	s.edit("scripts/run-shop.sh", [["#!/bin/sh\npg_dump -Fc shop > /backup/shop.dump\naws s3 cp /backup/shop.dump s3://shop-backups/$(date +%F).dump\nrm /backup/shop.dump\n", "#!/usr/bin/env bash\nset -euo pipefail\npg_dump -Fc shop | aws s3 cp - \"s3://shop-backups/$(date +%F).dump\" --expected-size 10000000000\n"]]);
	s.commit("backup: stream the dump and stop on errors");
	const done = s.say("The restore test runs after each backup and pings a dead man's switch: if no ping arrives for two days, you get an alert. The backup script now streams to S3 and fails if `pg_dump` fails.");
	s.back(go);
	s.user("Alternatively: drop pg_dump and use pgBackRest with WAL archiving?");
	s.say("That is the better long-term answer: point-in-time recovery, incremental backups, and restores in parallel. But it is a project of two to three days with a new failure mode (archiving that blocks). And even pgBackRest needs a restore test, so the test comes first in any case.");
	s.user("makes sense. put it on the list, finish the test first");
	s.say("Added to `TODO.md`: *pgBackRest for point-in-time recovery, after the restore test runs for a month.*");
	s.back(done);
	s.name("Backups: the first restore test");
}

const DEPLOYMENT = `apiVersion: apps/v1
kind: Deployment
metadata:
  name: shop-api
spec:
  replicas: 4
  template:
    spec:
      containers:
        - name: api
          image: registry.shop.example/api:3.2.0
          resources:
            requests: { cpu: 250m, memory: 384Mi }
            limits: { memory: 512Mi }
`;

function oom(s) {
	s.switchModel("gpt-5.2");
	s.has("k8s/shop-api.yaml", DEPLOYMENT);
	s.user("Since 3.2.0 the shop-api pods restart every 20 to 40 minutes. Find out why before the big sale.");
	const pods = ["6c9f7b-2xk4d", "6c9f7b-8hq7z", "6c9f7b-pl5wn", "6c9f7b-v9rtc"];
	const node = ["node-a", "node-b", "node-b", "node-c"];
	const describe = pods.map((pod, i) => `Name:             shop-api-${pod}
Namespace:        shop
Priority:         0
Node:             ${node[i]}/10.0.4.${11 + i * 3}
Labels:           app=shop-api
                  pod-template-hash=6c9f7b
Status:           Running
IP:               10.42.${i}.${118 + i * 7}
Containers:
  api:
    Image:          registry.shop.example/api:3.2.0
    Port:           8080/TCP
    State:          Running
    Last State:     Terminated
      Reason:       OOMKilled
      Exit Code:    137
    Ready:          True
    Restart Count:  ${[31, 28, 34, 29][i]}
    Limits:
      memory:  512Mi
    Requests:
      cpu:      250m
      memory:   384Mi
    Liveness:       http-get http://:8080/healthz delay=10s timeout=1s period=10s #success=1 #failure=3
    Readiness:      http-get http://:8080/readyz delay=5s timeout=1s period=5s #success=1 #failure=3
Conditions:
  Type              Status
  Initialized       True
  Ready             True
  ContainersReady   True
  PodScheduled      True
QoS Class:                   Burstable
Node-Selectors:              <none>
Tolerations:                 node.kubernetes.io/not-ready:NoExecute op=Exists for 300s
                             node.kubernetes.io/unreachable:NoExecute op=Exists for 300s
Events:
  Type     Reason     Age                From     Message
  ----     ------     ----               ----     -------
  Warning  BackOff    ${4 + i}m (x${[12, 9, 14, 11][i]} over 3h)  kubelet  Back-off restarting failed container api
  Normal   Pulled     ${3 + i}m (x${[32, 29, 35, 30][i]} over 14h) kubelet  Container image already present on machine`).join("\n\n");
	s.bash("kubectl -n shop describe pods -l app=shop-api", describe, { say: "I'll start with the state of the pods." });
	s.say("All four pods were **OOMKilled** (exit code 137) about 30 times. The limit is 512 MiB. So either 3.2.0 needs more memory, or it leaks.");
	s.bash("promtool query range --start=-3h --step=5m http://prometheus:9090 'container_memory_working_set_bytes{pod=~\"shop-api.*\"} / 1048576' | awk 'NR%6==0' | head -8", "shop-api-6c9f7b-2xk4d  181\nshop-api-6c9f7b-2xk4d  263\nshop-api-6c9f7b-2xk4d  349\nshop-api-6c9f7b-2xk4d  431\nshop-api-6c9f7b-2xk4d  508\nshop-api-6c9f7b-2xk4d  179\nshop-api-6c9f7b-2xk4d  266\nshop-api-6c9f7b-2xk4d  352");
	const leak = s.say("A straight line from 180 to 512 MiB, then a restart: about **3 MiB per minute**. That is a leak, not a higher base load. A higher limit would only make the period longer.");
	s.label(leak, "leak: 3 MiB/min");
	const next = s.user("Can we raise the limit for today anyway, so that the restarts stop during the sale?");
	s.edit("k8s/shop-api.yaml", [["limits: { memory: 512Mi }", "limits: { memory: 2Gi }"]], { say: "Yes, as a stopgap: 2 GiB gives about 10 hours. A rolling restart every 6 hours keeps us below it." });
	s.bash("kubectl -n shop apply -f k8s/shop-api.yaml && kubectl -n shop rollout status deploy/shop-api", "deployment.apps/shop-api configured\nWaiting for deployment \"shop-api\" rollout to finish: 1 out of 4 new replicas have been updated...\nWaiting for deployment \"shop-api\" rollout to finish: 3 out of 4 new replicas have been updated...\ndeployment \"shop-api\" successfully rolled out");
	s.commit("shop-api: raise the memory limit to 2 GiB (stopgap)");
	s.say("Rolled out. Now the leak. I'd take two heap snapshots, 10 minutes apart, and compare them.");
	s.user("go, but on one pod only, and take it out of the load balancer");
	s.bashFails("kubectl -n shop label pod shop-api-6c9f7b-2xk4d app=shop-api-debug", "error: 'app' already has a value (shop-api), and --overwrite is false", 1);
	s.bash("kubectl -n shop get pods -l app=shop-api -o name | head -1 && kubectl -n shop label --overwrite $(kubectl -n shop get pods -l app=shop-api -o name | head -1) app=shop-api-debug", "pod/shop-api-7d5e88-c4mzq\npod/shop-api-7d5e88-c4mzq labeled");
	s.say("`c4mzq` no longer gets traffic, and the deployment started a replacement. But without traffic it will not leak. I'll send it synthetic requests, 20 per second, to four endpoints.");
	s.bash("kubectl -n shop exec shop-api-7d5e88-c4mzq -- node -e 'require(\"v8\").writeHeapSnapshot(\"/tmp/a.heapsnapshot\")' && kubectl -n shop exec shop-api-7d5e88-c4mzq -- sh -c 'npx autocannon -d 600 -R 20 http://localhost:8080/cart' | tail -2", "12k requests in 600.1s, 41.2 MB read\n0 errors (0 timeouts)");
	s.bash("kubectl -n shop exec shop-api-7d5e88-c4mzq -- node -e 'require(\"v8\").writeHeapSnapshot(\"/tmp/b.heapsnapshot\")' && node compare-heaps.mjs a.heapsnapshot b.heapsnapshot | head -6", "constructor        count      size\nAbortController   +12004   +1.9 MB\nTimeout           +12004   +1.1 MB\n(closure)         +24011   +2.3 MB\nSocket                +2   +0.0 MB\nString              +118   +0.0 MB", { think: "One AbortController and one Timeout per request, and closures. A timeout that is never cleared." });
	const timeouts = s.say("Clear: exactly **one `AbortController` and one `Timeout` per request** remain. Somewhere a timeout is created for each request and never cleared.");
	s.label(timeouts, "one Timeout per request");
	s.bash("cd ~/code/webshop && git diff v3.1.4 v3.2.0 --stat -- src/http | tail -3 && rg -n 'setTimeout' src/http", " src/http/client.ts | 14 +++++++++++++-\n 1 file changed, 13 insertions(+), 1 deletion(-)\nsrc/http/client.ts:22:  setTimeout(() => controller.abort(), 60 * 60 * 1000);");
	s.say("Found: `src/http/client.ts:22` aborts slow requests after an hour, and the timer is not cleared when a request completes. Each timer keeps its controller and the request alive for an hour. At 20 requests per second that is 72,000 of them.\n\n```diff\n-  setTimeout(() => controller.abort(), 60 * 60 * 1000);\n-  return fetch(url, { signal: controller.signal });\n+  return fetch(url, { signal: AbortSignal.timeout(10_000) });\n```\n\n`AbortSignal.timeout` does not keep its target alive, and ten seconds is what the gateway allows anyway.");
	s.user("fixed and released as 3.2.2 (our timeout should have been 60 SECONDS lol). can you check prod in half an hour?");
	s.wait(34);
	s.bash("kubectl -n shop set image deploy/shop-api api=registry.shop.example/api:3.2.2 && kubectl -n shop rollout status deploy/shop-api | tail -1", "deployment.apps/shop-api image updated\ndeployment \"shop-api\" successfully rolled out");
	s.wait(31);
	s.bash("promtool query instant http://prometheus:9090 'deriv(container_memory_working_set_bytes{pod=~\"shop-api.*\"}[25m]) * 60 / 1048576'", "shop-api-5b8c61-4jj2x  0.02\nshop-api-5b8c61-9mwlp  -0.01\nshop-api-5b8c61-kk7rd  0.04\nshop-api-5b8c61-xt2vn  0.01");
	const flat = s.say("Memory is **flat** at 190 MiB after half an hour: between -0.01 and 0.04 MiB per minute, before it was 3.");
	s.label(flat, "flat");
	s.user("🙌 back to the 512 limit, and an alert on the slope please");
	s.edit("k8s/shop-api.yaml", [["limits: { memory: 2Gi }", "limits: { memory: 512Mi }"], ["api:3.2.0", "api:3.2.2"]]);
	s.read("monitoring/alerts.yml");
	s.edit("monitoring/alerts.yml", [["  - name: postgres\n", "  - name: memory\n    rules:\n      - alert: MemoryLeakSuspected\n        expr: predict_linear(container_memory_working_set_bytes[1h], 6 * 3600) > on(pod, container) kube_pod_container_resource_limits{resource=\"memory\"}\n        for: 30m\n        labels: { severity: ticket }\n\n  - name: postgres\n"]]);
	s.bash("promtool check rules monitoring/alerts.yml", "Checking monitoring/alerts.yml\n  SUCCESS: 4 rules found");
	s.commit("shop-api 3.2.2, memory limit back to 512 MiB, alert on memory growth");
	const end = s.say("Done. The alert would have opened a ticket one hour after the 3.2.0 rollout.");
	s.back(next);
	s.user("Or simply roll back to 3.1.4 for the sale?");
	s.say("Also possible, and with less risk: 3.1.4 ran for three weeks without a restart. But 3.2.0 contains the migration `0011_order_status`, and 3.1.4 does not know the new status `partially_refunded`. Refunds would fail. I'd keep 3.2.0 with the higher limit.");
	s.back(end);
	s.name("shop-api pods are OOMKilled");
}

function ci(s) {
	s.switchModel("claude-haiku-4-5");
	s.has(".github/workflows/ci.yml", "jobs:\n  test:\n    runs-on: [self-hosted, ci]\n    steps:\n      - uses: actions/checkout@v5\n        with: { fetch-depth: 0 }\n      - run: npm ci\n      - run: npm run build\n      - run: npm test\n      - run: docker build -t api .\n");
	s.user("CI takes 14 minutes. Where does it go, and what are the cheapest wins?");
	s.read(".github/workflows/ci.yml");
	s.bash("gh api repos/demo/webshop/actions/runs/9021/jobs --jq '.jobs[0].steps[] | \"\\(.name)\\t\\(.duration)\"'", "checkout\t0m52s\nnpm ci\t2m41s\nnpm run build\t2m08s\nnpm test\t3m55s\ndocker build\t4m19s");
	s.say("| step | time | cheapest win | saves about |\n|---|---:|---|---:|\n| checkout | 0:52 | no full history | 0:45 |\n| npm ci | 2:41 | keep `~/.npm` on the runner | 2:10 |\n| build | 2:08 | run in parallel with the tests | 2:08 |\n| test | 3:55 | `--shard`, 2 runners | 1:50 |\n| docker build | 4:19 | layer cache, copy `package.json` first | 3:30 |\n\nThe last row is the best one: 3:30 for two lines.");
	s.user("Docker first then");
	s.has("Dockerfile", "FROM node:22\nWORKDIR /app\nCOPY . .\nRUN npm ci\nRUN npm run build\nCMD [\"node\", \"dist/server.js\"]\n");
	s.read("Dockerfile");
	s.edit("Dockerfile", [["COPY . .\nRUN npm ci\n", "COPY package.json package-lock.json ./\nRUN --mount=type=cache,target=/root/.npm npm ci\nCOPY . .\n"]]);
	s.bash("docker build -q -t api . && touch src/server.ts && time docker build -q -t api .", "sha256:4be1c09a77\nsha256:0dd2f4e518\n\nreal\t0m38.402s");
	s.say("38 s instead of 4:19 when only source files change.");
	s.commit("Dockerfile: install dependencies before copying the sources");
	s.edit(".github/workflows/ci.yml", [["        with: { fetch-depth: 0 }\n", ""], ["jobs:\n  test:\n", "jobs:\n  build:\n    runs-on: [self-hosted, ci]\n    steps:\n      - uses: actions/checkout@v5\n      - run: npm ci --prefer-offline\n      - run: npm run build\n      - run: docker build -t api .\n  test:\n    strategy:\n      matrix: { shard: [1, 2] }\n"], ["      - run: npm ci\n      - run: npm run build\n      - run: npm test\n      - run: docker build -t api .\n", "      - run: npm ci --prefer-offline\n      - run: npm test -- --shard ${{ matrix.shard }}/2\n"]]);
	s.bash("git push -q origin HEAD:ci-speed && gh run watch --exit-status 9034 | tail -4", "X build · Error: fatal: No names found, cannot describe anything.\n✓ test (1) 2m31s\n✓ test (2) 2m12s\nRun ci-speed completed with 'failure'");
	s.say("The build uses `git describe` for the version, and a shallow clone has no tags. `fetch-tags: true` is not enough, because `describe` also needs the commits up to the tag.");
	s.user("then keep the full history in the build job, whatever");
	s.edit(".github/workflows/ci.yml", [["      - uses: actions/checkout@v5\n      - run: npm ci --prefer-offline\n      - run: npm run build\n", "      - uses: actions/checkout@v5\n        with: { fetch-depth: 0, filter: \"blob:none\" }\n      - run: npm ci --prefer-offline\n      - run: npm run build\n"]], { think: "A blobless clone gives the whole commit graph for describe without the file contents." });
	s.bash("git push -q origin HEAD:ci-speed && gh run watch --exit-status 9037 | tail -4", "✓ build 3m02s\n✓ test (1) 2m29s\n✓ test (2) 2m17s\nRun ci-speed completed with 'success'");
	const fast = s.say("**14:00 → 3:02.** `filter: blob:none` keeps the whole commit history without the contents, so `git describe` works and the checkout takes 9 s.");
	s.label(fast, "14:00 → 3:02");
	s.commit("ci: build and test in parallel");
	s.user("🚀 are self-hosted runners with a warm ~/.npm a security problem?");
	s.say("For pull requests from forks: yes. A pull request could change `~/.npm` and wait for the next run on `main`. Two rules make it acceptable:\n\n1. Forks run on GitHub's own runners (`if: github.event.pull_request.head.repo.fork`)\n2. The cache on self-hosted runners is read-only for pull requests\n\nRule 1 exists already; rule 2 does not.");
	s.user("how would rule 2 look?");
	s.say("Mount the cache as an overlay: the lower directory is the shared cache, and each job writes into its own upper directory that is deleted afterwards. Only the job on `main` updates the lower one.\n\n```yaml\n- run: sudo mount -t overlay npm -o lowerdir=/cache/npm,upperdir=$RUNNER_TEMP/up,workdir=$RUNNER_TEMP/work ~/.npm\n```\n\nThat is one line in the runner's start script. Shall I add it to the Ansible role?");
	s.user("yes please");
	s.write("roles/ci/files/job-started.sh", "#!/usr/bin/env bash\n# Gives each job its own view of the npm cache.\nset -euo pipefail\nmkdir -p \"$RUNNER_TEMP\"/{up,work}\nsudo mount -t overlay npm -o \"lowerdir=/cache/npm,upperdir=$RUNNER_TEMP/up,workdir=$RUNNER_TEMP/work\" ~/.npm\n");
	s.bash("ansible-playbook ci.yml --check --diff | tail -3", "PLAY RECAP\nci-1 : ok=33 changed=2 unreachable=0 failed=0 skipped=4\nci-2 : ok=33 changed=2 unreachable=0 failed=0 skipped=4");
	s.commit("ci: give each job its own view of the npm cache");
	s.say("The hook is in the role: two changes per runner, nothing else.");
	s.name("CI: 14 minutes → 3");
}

export default [
	{ key: "restore", cwd, at: "2026-11-13T14:05:40.181Z", tell: restore },
	{ key: "incident", cwd, at: "2026-11-14T01:03:12.559Z", tell: incident },
	{ key: "slots", cwd, at: "2026-11-16T09:40:27.415Z", tell: slots, forkOf: ["incident", "report"] },
	{ key: "quota", cwd, at: "2026-11-16T11:48:20.007Z", tell: quota, model: "gpt-5.2-codex" },
	{ key: "drift", cwd, at: "2026-11-17T08:20:39.218Z", tell: drift },
	{ key: "ci", cwd, at: "2026-11-18T15:30:09.874Z", tell: ci, model: "claude-haiku-4-5" },
	{ key: "certificate", cwd, at: "2026-11-18T12:33:01.666Z", tell: certificate },
	{ key: "oom", cwd, at: "2026-11-19T10:20:55.390Z", tell: oom, model: "gpt-5.2" },
];

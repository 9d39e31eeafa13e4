/** The whole contract, without the parts that come later. */
export const CONTRACT = `
version: "2026-11-01"            # free text
state_dir: ./state
memory: { budget_mb: 40 }
shutdown: { grace_seconds: 15 }
store: { kind: sqlite, durability: process }
retention: { runs: 10000, results: 200, result_ttl_hours: 24, dead_letters: 2000, max_mb: 64 }
pools:
  cpu: { threads: auto, idle_seconds: 10 }
  io: { wait_ms: 80, compute_ms: 20 }
queues:
  ready: { backlog_per_second: 500, tolerate_seconds: 30, when_full: block }
  delayed: { capacity: 20000 }
  retry: { capacity: 2000 }
  dead_letter: { capacity: 2000, when_full: drop-oldest }
groups: { api: { concurrency: 10 }, database: { concurrency: 20 } }
metrics: { listen: 127.0.0.1:9464 }
log: { level: info, file: null, max_mb: 50, keep_days: 14 }
handlers: [ ./handlers/*.ts ]
defaults: { timeout_seconds: 30, max_retry: 5, backoff: { kind: scaled, base_seconds: 1, cap_seconds: 60 } }
tasks:
  - name: hash-inbox
    kind: cpu
    handler: hash
    with: { algorithm: sha256, manifest: ./out/SHA256SUMS }
    each: { files: "./inbox/**/*" }
    schedule: "*/5 * * * * *"
    time_zone: Europe/Berlin
    dst: { gap: shift, repeat: first }
    misfire: { policy: run-once, grace_seconds: null, max: 100 }
    overlap: skip
    splay_seconds: 0
    run_on_start: false
    timeout_seconds: 10
    max_retry: 5
    backoff: { kind: additive, base_seconds: 1, cap_seconds: 60, jitter_seconds: 1 }
    on_interrupted: rerun
    group: api
    priority: 0
`;

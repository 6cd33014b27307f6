// Otherwise zod probes for `eval`, and the page's policy reports a violation.
globalThis.__zod_globalConfig = { jitless: true }

#!/usr/bin/env node
// Committed, since bins are linked at install time, before dist/ is built.
await import('../dist/main.mjs')

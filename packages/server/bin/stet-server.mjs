#!/usr/bin/env node
// Committed, since bins are linked at install time, before dist/ is built.
import { fileURLToPath } from 'node:url'

const { connected, env, execArgv, execPath, execve, platform } = process
// Without it glibc keeps what the start has freed, a quarter of an idle server (ADR 75). It reads it before Node runs, so
// the process begins anew. That would close the channel to a parent process, which sets it itself.
if (platform === 'linux' && execve && !connected && env['MALLOC_TRIM_THRESHOLD_'] === undefined) {
  const args = [execPath, ...execArgv, fileURLToPath(import.meta.url), ...process.argv.slice(2)]
  execve(execPath, args, { ...env, MALLOC_TRIM_THRESHOLD_: '131072' })
}
await import('../dist/main.mjs')

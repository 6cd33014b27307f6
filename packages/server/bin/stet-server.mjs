#!/usr/bin/env node
// Committed, since bins are linked at install time, before dist/ is built.
import { fileURLToPath } from 'node:url'

const { connected, env, execArgv, execPath, execve, permission, platform } = process
// Without the variable, glibc keeps what the start has freed, a quarter of an idle server (ADR 75); it is read before Node
// runs. Without `gc`, the embedded database keeps copies of large results (ADR 34). So the process begins anew, once, with
// both. That would close the channel to a parent process: `stet serve` sets both itself. Node's permission model forbids it.
const mayBegin = platform === 'linux' && execve && !connected && !permission
if (mayBegin && env['MALLOC_MMAP_THRESHOLD_'] === undefined) {
  const args = ['--expose-gc', ...execArgv, fileURLToPath(import.meta.url), ...process.argv.slice(2)]
  execve(execPath, [execPath, ...args], { MALLOC_MMAP_THRESHOLD_: '32768', ...env })
}
await import('../dist/main.mjs')

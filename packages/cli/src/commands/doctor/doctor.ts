import type { Stet } from '@stet/sdk'
import { defineCommand } from '../../command.ts'
import type { Context } from '../../context.ts'
import { CliError, describeFailure, exitCodes } from '../../exit-code.ts'
import { createClient } from '../../settings/client.ts'
import type { Settings } from '../../settings/resolve.ts'
import { promptNamed } from '../../sync/prompt-path.ts'
import { findVersionToRun } from '../../sync/version-ref.ts'
import { gatherParameters, type ParameterInput, parameterFlags, parseParameters } from '../../ui/parameters.ts'
import type { Finding } from './checks.ts'
import * as checks from './checks.ts'
import { checkStreaming } from './streaming.ts'

export const command = defineCommand({
  summary: 'Checks programs, files, server, key, clock, prompts and streaming, and reports problems.',
  examples: ['stet doctor', 'stet doctor --prompt support/reply -p customer=Ana', 'stet doctor --json'],
  flags: {
    '--prompt <path>': 'run this prompt to test whether events arrive live',
    ...parameterFlags,
  },
  parse(raw): LiveRun {
    const path = raw.flags.prompt
    const parameters = parseParameters(raw)
    if (path === undefined && (parameters.named.length > 0 || parameters.file !== undefined)) {
      throw new CliError('usage', 'Parameters need a prompt', { hint: 'pass --prompt <path>' })
    }
    return { path, parameters }
  },
  async run(live, ctx) {
    const findings: Finding[] = []
    await noting(findings, 'node')(async () => checks.checkPrograms())
    const settings = await readSettings(findings, ctx)
    if (settings) {
      await noting(findings, 'lock')(async () => checks.checkLock(settings))
      await noting(findings, 'prompts')(() => checks.checkPrompts(settings))
      if (await reachServer(findings, settings, ctx)) await askServer(findings, settings, live, ctx)
    }
    return { findings, isHealthy: findings.every(({ status }) => status !== 'fail') }
  },
  print({ findings }, { io, dataStyle }) {
    const marks = { ok: dataStyle.ok, warn: dataStyle.warn, fail: dataStyle.fail, skip: dataStyle.dim('-') }
    for (const { name, status, message } of findings) io.out(`${marks[status]} ${name.padEnd(7)} ${message}\n`)
  },
  exitCode: ({ isHealthy }) => (isHealthy ? exitCodes.success : exitCodes.unexpected),
})

interface LiveRun {
  path: string | undefined
  parameters: ParameterInput
}

type Check = () => Promise<Omit<Finding, 'name'>>

function noting(findings: Finding[], name: string): (check: Check) => Promise<boolean> {
  return async (check) => {
    try {
      findings.push({ name, ...(await check()) })
      return true
    } catch (error) {
      const { message, next } = await describeFailure(error)
      findings.push({ name, status: 'fail', message: next ? `${message} · ${next}` : message })
      return false
    }
  }
}

async function readSettings(findings: Finding[], ctx: Context): Promise<Settings | undefined> {
  let settings: Settings | undefined
  await noting(
    findings,
    'config',
  )(async () => {
    settings = await ctx.settings()
    return checks.checkConfig(settings, ctx)
  })
  return settings
}

async function reachServer(findings: Finding[], settings: Settings, ctx: Context): Promise<boolean> {
  let clock: Omit<Finding, 'name'> | undefined
  const isThere = await noting(
    findings,
    'server',
  )(async () => {
    const found = await checks.checkServer(settings, await anyClient(settings, ctx))
    clock = found.clock
    return found.server
  })
  if (clock) findings.push({ name: 'clock', ...clock })
  return isThere
}

// The health check needs no key. The `auth` check reports a missing key.
function anyClient(settings: Settings, ctx: Context): Promise<Stet> {
  return settings.apiKey
    ? ctx.client()
    : createClient(ctx, { ...settings, apiKey: { value: 'none', origin: 'default' } })
}

async function askServer(findings: Finding[], settings: Settings, live: LiveRun, ctx: Context): Promise<void> {
  if (!(await noting(findings, 'auth')(async () => checks.checkAuth(settings, await ctx.client())))) return
  const client = await ctx.client()
  await noting(findings, 'project')(() => checks.checkProject(settings, client, ctx))
  if (settings.projectId) await noting(findings, 'types')(() => checks.checkTypes(settings, ctx))
  if (!settings.projectId) return
  await noting(
    findings,
    'stream',
  )(async () => {
    if (live.path === undefined) return checkStreaming(client, undefined)
    const parameters = await gatherParameters(live.parameters, ctx)
    const versionUuid = await findVersionToRun(client, ctx)
    return checkStreaming(client, { path: await promptNamed(live.path, ctx), parameters, versionUuid })
  })
}

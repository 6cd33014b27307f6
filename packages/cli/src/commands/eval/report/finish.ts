import { appendFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import type { Verdict, VerdictCode } from '@stet/contract/vocabulary'
import type { Experiment, GateVerdict, Stet } from '@stet/sdk'
import type { Flags, Input } from '../../../command.ts'
import { promptFiles } from '../../../compile/annotations.ts'
import type { Context } from '../../../context.ts'
import { CliError, exitCodes } from '../../../exit-code.ts'
import { writeNamedFile } from '../../../settings/write-file.ts'
import { githubPath, isInGitHubActions, withoutCommands } from '../../../terminal/github.ts'
import { oneLine } from '../../../terminal/output.ts'
import { gateLines } from '../../../ui/gate-lines.ts'
import { type EvalResult, worstOf } from './eval-result.ts'
import { summaryOf, warningsOf } from './github.ts'
import { junitOf, junitWithoutResult } from './junit.ts'
import { readResult } from './read-result.ts'
import { resultText } from './result-text.ts'

/** What follows from experiments that have ended. */
export interface FinishInput {
  junit: string | undefined
  /** The gates of the project decide, and not the default verdict. */
  usesGates: boolean
}

export const finishFlags = {
  '--gate': 'decide by the gates of the project, as a publication would',
  '--junit <file>': 'also write the result as JUnit XML',
} as const satisfies Flags

export function parseFinish(raw: Input<typeof finishFlags>): FinishInput {
  return { junit: raw.flags.junit, usesGates: raw.flags.gate }
}

export interface Finished {
  verdict: Verdict
  code: VerdictCode | null
  results: EvalResult[]
  /** The verdicts of gates for prompts that have no result here, with `--gate`. A publication asks them as well. */
  gates: GateVerdict[]
}

/**
 * Reads the results, and writes them where CI looks for them.
 * @param candidate the version that the gates are asked about; the last arm of the first experiment otherwise
 */
export async function finish(
  client: Stet,
  ended: readonly Experiment[],
  { junit, usesGates, candidate = ended[0]?.arms.at(-1)?.versionUuid }: FinishInput & { candidate?: string },
  ctx: Context,
): Promise<Finished> {
  const all = usesGates && candidate !== undefined ? await gatesOf(client, candidate, ctx) : []
  const tests: Parameters<typeof junitOf>[0][number][] = []
  for (const experiment of ended) {
    const { tested, ...result } = await readResult(client, experiment)
    tests.push({ tested, result: gated(result, all) })
  }
  const results = tests.map(({ result }) => result)
  const gates = all.filter(({ path }) => ended.every((experiment) => experiment.path !== path))
  if (usesGates)
    for (const { gates: own, experiment } of results)
      if (own.length === 0) ctx.say(`No gate applies to ${experiment.path}: the default verdict counts`)
  if (junit !== undefined) await writeJunit(junit, junitOf(tests, all), ctx)
  if (results.length + gates.length > 0 && isInGitHubActions(ctx.io)) await reportToGitHub(results, gates, ctx)
  return { ...worstOf([...results, ...gates]), results, gates }
}

/** Nothing was run, so there is no result that can be trusted. Returns the failure to report. */
export async function withoutResult(message: string, junit: string | undefined, ctx: Context): Promise<CliError> {
  if (junit !== undefined) await writeJunit(junit, junitWithoutResult(message), ctx)
  return new CliError('inconclusive', message)
}

async function writeJunit(file: string, text: string, ctx: Context): Promise<void> {
  await writeNamedFile(resolve(ctx.io.cwd, file), text)
  ctx.say(`  JUnit written to ${file}`)
}

/** The gates compare a draft with live, whatever the baseline of the experiment is. A published version has none. */
async function gatesOf(client: Stet, candidate: string, ctx: Context): Promise<GateVerdict[]> {
  try {
    return (await client.versions.checks(candidate)).gates
  } catch (error) {
    const { ApiError } = await import('@stet/sdk')
    if (!(error instanceof ApiError) || error.reason !== 'not-a-draft') throw error
    ctx.say('No gate applies: the version is published')
    return []
  }
}

function gated(result: EvalResult, all: readonly GateVerdict[]): EvalResult {
  const gates = all.filter(({ path }) => path === result.experiment.path)
  return gates.length > 0 ? { ...result, gates, ...worstOf(gates) } : result
}

async function reportToGitHub(
  results: readonly EvalResult[],
  gates: readonly GateVerdict[],
  ctx: Context,
): Promise<void> {
  const { io } = ctx
  const fileOf = await promptFiles(ctx)
  const shownFileOf = (path: string) => {
    const file = fileOf(path)
    return file === null ? null : githubPath(file, io)
  }
  io.err(warningsOf(results, shownFileOf), 'command')
  const file = io.env['GITHUB_STEP_SUMMARY']
  if (!file) return
  await appendFile(file, summaryOf(results, gates)).catch((error: Error) =>
    ctx.warn(`No summary was written: ${error.message}`),
  )
}

export function printFinished({ results, gates }: Finished, { io, dataStyle }: Context): void {
  const shown = (text: string) => (isInGitHubActions(io) ? withoutCommands(text) : text)
  for (const result of results) io.out(shown(resultText(result, dataStyle)))
  for (const line of gateLines(gates, dataStyle)) io.out(shown(`${oneLine(line)}\n`))
}

export function exitCodeOf({ verdict }: Pick<Finished, 'verdict'>): number {
  const { success, verdict_failed: fail, inconclusive } = exitCodes
  return { pass: success, fail, inconclusive }[verdict]
}

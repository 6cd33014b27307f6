import type { CreateExperimentBody, Experiment, ExperimentOrigin, RunOverrides, Stet } from '@stet/sdk'
import { defined } from '@stet/template/defined'
import { defineCommand, type Flags, type Input } from '../../command.ts'
import type { Context } from '../../context.ts'
import { CliError, exitCodes } from '../../exit-code.ts'
import type { Io } from '../../io.ts'
import { isInGitHubActions } from '../../terminal/github.ts'
import { countOf, shortUuid } from '../../terminal/output.ts'
import { Interruption } from '../../ui/interruption.ts'
import { followExperiments, stopAll, stopRefused } from './follow-experiments.ts'
import { type EvalFile, loadEvalFile } from './load-eval-file.ts'
import {
  exitCodeOf,
  type Finished,
  type FinishInput,
  finish,
  finishFlags,
  parseFinish,
  printFinished,
  withoutResult,
} from './report/finish.ts'
import { usd } from './report/result-text.ts'
import { scoreAnswers } from './score-answers.ts'
import { armsOf, findCompared, parseOverrides } from './start/choose-arms.ts'
import { type ChosenPrompt, choosePrompts } from './start/choose-prompts.ts'

interface EvalInput extends FinishInput {
  names: readonly string[]
  files: string[]
  draft: string | undefined
  baseline: string
  overrides: RunOverrides[]
  limits: Pick<CreateExperimentBody, 'tag' | 'trials' | 'budgetUsd' | 'maxRuns' | 'concurrency'>
  isDetached: boolean
}

const flags = {
  '--file <file>...': 'score the answers of its prompt with the scorers of an eval file',
  '--draft <ref>': 'version to try: the name or uuid of a draft (the one in the lock file, or the newest)',
  '--baseline <ref>': 'version to compare with: the name of a draft, a uuid, live (default) or none',
  '--arm <setting=value>...': 'also try the version with other settings, such as model=gpt-6-luna,temperature=0',
  '--tag <tag>': 'only the examples with this tag',
  '--trials <n>': 'runs per example, 1 to 5 (1)',
  '--budget <usd>': 'start no run when the cost has reached this (2)',
  '--max-runs <n>': 'start nothing if more runs are needed (500)',
  '--concurrency <n>': 'runs at once, up to 16 (4)',
  ...finishFlags,
  '--detach': 'print the uuids of the experiments and exit; stet eval watch follows them',
} as const satisfies Flags

export const command = defineCommand({
  summary:
    'Runs the examples of prompts with a draft and with live, and says what broke and what is fixed. Without paths, takes the prompts that the draft changes and that have examples. Exits with 11 if the draft is worse, with 12 without a clear result.',
  examples: [
    'stet eval',
    'stet eval support/refund --tag smoke --budget 0.50',
    'stet eval support/refund --baseline live --arm model=gpt-6-luna',
    'stet eval --file refund.eval.ts --junit eval.xml',
  ],
  args: { '[path...]': 'prompts' },
  flags,
  parse: parseEval,
  run: evaluate,
  print(data, ctx) {
    if ('results' in data) printFinished(data, ctx)
    else ctx.io.out(data.experiments.map(({ uuid }) => `${uuid}\n`).join(''))
  },
  exitCode: (data) => ('results' in data ? exitCodeOf(data) : exitCodes.success),
})

function parseEval(raw: Input<typeof flags>): EvalInput {
  const files = raw.flags.file
  const isDetached = raw.flags.detach
  const finishing = parseFinish(raw)
  if (isDetached && (files.length > 0 || finishing.junit !== undefined || finishing.usesGates)) {
    throw new CliError('usage', 'Use --detach without --file, --gate and --junit: it exits before the answers')
  }
  const tag = raw.flags.tag
  return {
    ...finishing,
    names: raw.args,
    files,
    draft: raw.flags.draft,
    baseline: raw.flags.baseline ?? 'live',
    overrides: raw.flags.arm.map(parseOverrides),
    limits: defined({
      tag,
      trials: parseNumber(raw.flags.trials, '--trials'),
      budgetUsd: parseNumber(raw.flags.budget, '--budget'),
      maxRuns: parseNumber(raw.flags.maxRuns, '--max-runs'),
      concurrency: parseNumber(raw.flags.concurrency, '--concurrency'),
    }),
    isDetached,
  }
}

/** The server has the limits. */
export function parseNumber(text: string | undefined, flag: string): number | undefined {
  if (text === undefined) return undefined
  if (/^\d{1,6}(\.\d{1,6})?$/.test(text) && Number(text) > 0) return Number(text)
  throw new CliError('usage', `${flag} must be a positive number, not "${text}"`)
}

async function evaluate(input: EvalInput, ctx: Context): Promise<Finished | { experiments: Experiment[] }> {
  // A file that cannot be imported shall cost nothing.
  const files: EvalFile[] = []
  for (const file of input.files) files.push(await loadEvalFile(file, ctx.io.cwd))
  await ctx.projectId()
  const client = await ctx.client()
  const compared = await findCompared(client, input, ctx)
  const { candidate } = compared
  // The gates would refuse it only after all runs are paid.
  if (input.usesGates && candidate.status !== 'draft') {
    throw new CliError('usage', '--gate needs a draft: the gates decide on what is to be published', {
      hint: 'push a change, or pass --draft',
    })
  }
  const names = [...input.names, ...files.map(({ definition }) => definition.path)]
  const { prompts, emptied } = await choosePrompts(client, compared, { names, tag: input.limits.tag }, ctx)
  if (emptied !== undefined) throw await withoutResult(emptied, input.junit, ctx)
  if (prompts.length === 0) ctx.say('The draft changes no prompt that has examples')
  const origin = originOf(ctx.io)
  const bodyOf = ({ path, isNew }: ChosenPrompt): CreateExperimentBody => {
    const arms = armsOf(compared, input.overrides, isNew)
    return { path, arms, ...input.limits, ...(origin && { origin }) }
  }
  const started = await startAll(client, prompts.map(bodyOf), ctx)
  if (input.isDetached) return { experiments: started }
  const ended = await complete(client, started, { files, onInterrupt: 'stop' }, ctx)
  return finish(client, ended, { ...input, candidate: candidate.uuid }, ctx)
}

/** Starts all experiments or none: what a refusal or Ctrl-C leaves running would cost money for nothing. */
async function startAll(client: Stet, bodies: readonly CreateExperimentBody[], ctx: Context): Promise<Experiment[]> {
  const started: Experiment[] = []
  const waiting = '  Waiting for the server, to stop what it starts. Press Ctrl-C again to leave it running'
  const interruption = new Interruption(ctx, waiting)
  try {
    for (const body of bodies) {
      // The request is awaited even after Ctrl-C, because its experiment would run on unseen.
      const experiment = await client.experiments.create(body)
      started.push(experiment)
      sayStarted(experiment, ctx)
      if (interruption.by) break
    }
  } catch (error) {
    if (!interruption.by) throw await stopRefused(client, error, started)
    if (started.length === 0) throw error
  } finally {
    interruption.end()
  }
  if (interruption.by) throw await stopAll(client, interruption.by, started)
  return started
}

/** Waits for the end of experiments, and scores their answers. */
export async function complete(
  client: Stet,
  started: readonly Experiment[],
  { files, onInterrupt }: { files: readonly EvalFile[]; onInterrupt: 'stop' | 'leave' },
  ctx: Context,
): Promise<Experiment[]> {
  const found: Experiment[] = []
  for (const ended of await followExperiments(client, started, onInterrupt, ctx)) {
    const own = files.filter(({ definition }) => definition.path === ended.path)
    for (const file of own) await scoreAnswers(client, ended, file, ctx)
    found.push(own.length > 0 ? await client.experiments.get(ended.uuid) : ended)
  }
  return found
}

function sayStarted({ uuid, path, arms, counts, estimateUsd, budgetUsd }: Experiment, { say, style }: Context): void {
  const cost = estimateUsd === null ? 'unknown cost' : `about ${usd(estimateUsd)}`
  const labels = arms.map(({ label }) => label).join(' / ')
  const parts = [path, labels, countOf(counts.total, 'run'), `${cost}, at most ${usd(budgetUsd)}`, shortUuid(uuid)]
  say(style.dim(`◌ ${parts.join(' · ')}`))
}

/** Where the experiment comes from, in GitHub Actions. */
function originOf(io: Io): ExperimentOrigin | undefined {
  if (!isInGitHubActions(io)) return undefined
  const { env } = io
  const { GITHUB_SERVER_URL: server, GITHUB_REPOSITORY: repository, GITHUB_RUN_ID: run } = env
  return defined({
    branch: env['GITHUB_HEAD_REF'] || env['GITHUB_REF_NAME'] || undefined,
    commit: env['GITHUB_SHA'] || undefined,
    url: server && repository && run ? `${server}/${repository}/actions/runs/${run}` : undefined,
  })
}

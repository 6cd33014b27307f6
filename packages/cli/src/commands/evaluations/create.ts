import type { Check } from '@stet/contract/vocabulary'
import type { EvaluationInput } from '@stet/sdk'
import { defined } from '@stet/template/defined'
import { defineCommand, type Flags, type Input } from '../../command.ts'
import { CliError } from '../../exit-code.ts'
import { promptNamed } from '../../sync/prompt-path.ts'
import { findVersionToRun } from '../../sync/version-ref.ts'

const ratingFlags = [
  ['--min', 'min', 'minRating'],
  ['--max', 'max', 'maxRating'],
  ['--min-threshold', 'minThreshold', 'minThreshold'],
  ['--max-threshold', 'maxThreshold', 'maxThreshold'],
] as const

const flags = {
  '--metric <metric>': 'people score it: binary (0 or 1) or rating (a number in a range)',
  '--check <check>...':
    'a rule scores it: exact or contains compare with what the example expects; contains=<text>, regex=<pattern>, cost=<usd>, latency=<ms>, or JSON',
  '--judge <path>': 'a prompt scores it',
  '--path <path>': 'for this prompt only (every prompt of the project)',
  '--description <text>': 'instructions for reviewers',
  '--min <n>': 'lowest rating (1)',
  '--max <n>': 'highest rating (5)',
  '--min-threshold <n>': 'lowest rating that passes',
  '--max-threshold <n>': 'highest rating that passes',
  '--reverse': 'low scores are good',
} as const satisfies Flags

export const command = defineCommand({
  summary: 'Creates an evaluation: people, a rule or a prompt score conversations. Prints its uuid.',
  examples: [
    'stet evaluations create Helpful --metric rating --min-threshold 4',
    'stet evaluations create "Right label" --metric binary --path support/triage',
    'stet evaluations create "Says what is expected" --check contains --path support/reply',
  ],
  args: { '<name>': 'name of the evaluation' },
  flags,
  parse: parseEvaluation,
  async run({ path, ...input }, ctx) {
    await ctx.projectId()
    const client = await ctx.client()
    if (path === undefined) return client.evaluations.create(input)
    const versionUuid = await findVersionToRun(client, ctx)
    const { documentUuid } = await client.prompts.get(await promptNamed(path, ctx), { versionUuid })
    return client.evaluations.create({ ...input, documentUuid })
  },
  print(evaluation, { io, style, say }) {
    io.out(`${evaluation.uuid}\n`)
    const kind = evaluation.type === 'human' ? evaluation.metric : evaluation.type
    say(`${style.ok} Created evaluation "${evaluation.name}" (${kind})`)
  },
})

function parseEvaluation(raw: Input<typeof flags>): EvaluationInput & { path?: string } {
  const name = raw.args[0] ?? ''
  const given = defined({ path: raw.flags.path, description: raw.flags.description })
  const [metric, judge] = [raw.flags.metric, raw.flags.judge]
  const checks = raw.flags.check.map(parseCheck)
  const isAutomatic = checks.length > 0 || judge !== undefined
  if (isAutomatic) {
    const isScored = metric !== undefined || raw.flags.reverse || ratingFlags.some(([, flag]) => raw.flags[flag])
    if (isScored || (checks.length > 0 && judge !== undefined))
      throw new CliError('usage', 'Use one of --metric, --check and --judge')
    return judge === undefined ? { name, type: 'rule', checks, ...given } : { name, type: 'judge', judge, ...given }
  }
  if (metric !== 'binary' && metric !== 'rating') {
    const hint = 'pass --metric for scores by people, --check for a rule, or --judge for a prompt'
    throw new CliError('usage', `--metric must be binary or rating${metric === undefined ? '' : `, not "${metric}"`}`, {
      hint,
    })
  }
  const ratings = ratingFlags.flatMap(([flag, own, key]) => {
    const text = raw.flags[own]
    if (text === undefined) return []
    if (metric === 'binary') throw new CliError('usage', `${flag} needs --metric rating`)
    return [[key, numberOf(text, flag)] as const]
  })
  const configuration = { ...Object.fromEntries(ratings), ...(raw.flags.reverse && { reverseScale: true }) }
  return { name, metric, configuration, ...given }
}

/** @example parseCheck('regex=^Dear') // { type: 'regex', pattern: '^Dear' } */
function parseCheck(text: string): Check {
  if (text.startsWith('{')) return jsonCheck(text)
  const [, type = '', value] = /^(\w+)(?:=(.+))?$/s.exec(text) ?? []
  if (type === 'exact') return value === undefined ? { type } : { type, value }
  if (type === 'contains') return value === undefined ? { type } : { type, any: [value] }
  if (type === 'regex' && value !== undefined) return { type, pattern: value }
  if ((type === 'cost' || type === 'latency') && value !== undefined) return { type, max: numberOf(value, '--check') }
  throw new CliError('usage', `--check cannot be "${text}"`, {
    hint: 'use exact, contains, contains=<text>, regex=<pattern>, cost=<usd>, latency=<ms>, or a check as JSON',
  })
}

/** The server validates it. */
function jsonCheck(text: string): Check {
  try {
    return JSON.parse(text)
  } catch (error) {
    throw new CliError('usage', `--check is not JSON: ${error instanceof Error ? error.message : error}`)
  }
}

function numberOf(text: string, flag: string): number {
  const value = Number(text)
  if (text.trim() !== '' && Number.isFinite(value)) return value
  throw new CliError('usage', `${flag} must be a number, not "${text}"`)
}

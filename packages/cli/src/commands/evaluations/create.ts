import type { EvaluationInput } from '@stet/sdk'
import { defined } from '@stet/template/defined'
import { defineCommand, hasFlag, type RawInput, textFlag } from '../../command.ts'
import { CliError } from '../../exit-code.ts'
import type { Flag, FlagName } from '../../settings/global-flags.ts'
import { promptNamed } from '../../sync/prompt-path.ts'
import { findVersionToRun } from '../../sync/version-ref.ts'

const ratingFlags = [
  ['--min', 'min', 'minRating'],
  ['--max', 'max', 'maxRating'],
  ['--min-threshold', 'minThreshold', 'minThreshold'],
  ['--max-threshold', 'maxThreshold', 'maxThreshold'],
] as const

const flags = [
  { long: '--metric', value: '<metric>', summary: 'binary (0 or 1) or rating (a number in a range)' },
  { long: '--path', value: '<path>', summary: 'for this prompt only (every prompt of the project)' },
  { long: '--description', value: '<text>', summary: 'instructions for reviewers' },
  { long: '--min', value: '<n>', summary: 'lowest rating (1)' },
  { long: '--max', value: '<n>', summary: 'highest rating (5)' },
  { long: '--min-threshold', value: '<n>', summary: 'lowest rating that passes' },
  { long: '--max-threshold', value: '<n>', summary: 'highest rating that passes' },
  { long: '--reverse', summary: 'low scores are good' },
] as const satisfies readonly Flag[]

export const command = defineCommand({
  summary: 'Creates an evaluation, which lets people score conversations. Prints its uuid.',
  examples: [
    'stet evaluations create Helpful --metric rating --min-threshold 4',
    'stet evaluations create "Right label" --metric binary --path support/triage',
  ],
  args: [{ name: 'name', summary: 'name of the evaluation', isRequired: true }],
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
    say(`${style.ok} Created evaluation "${evaluation.name}" (${evaluation.metric})`)
  },
})

function parseEvaluation(raw: RawInput<FlagName<typeof flags>>): EvaluationInput & { path?: string } {
  const metric = textFlag(raw, 'metric')
  if (metric !== 'binary' && metric !== 'rating') {
    throw new CliError('usage', `--metric must be binary or rating${metric === undefined ? '' : `, not "${metric}"`}`)
  }
  const path = textFlag(raw, 'path')
  const description = textFlag(raw, 'description')
  const ratings = ratingFlags.flatMap(([flag, name, key]) => {
    const text = textFlag(raw, name)
    if (text === undefined) return []
    if (metric === 'binary') throw new CliError('usage', `${flag} needs --metric rating`)
    return [[key, numberOf(text, flag)] as const]
  })
  const configuration = { ...Object.fromEntries(ratings), ...(hasFlag(raw, 'reverse') && { reverseScale: true }) }
  return { name: raw.args[0] ?? '', metric, configuration, ...defined({ path, description }) }
}

function numberOf(text: string, flag: string): number {
  const value = Number(text)
  if (text.trim() !== '' && Number.isFinite(value)) return value
  throw new CliError('usage', `${flag} must be a number, not "${text}"`)
}

import type { Stet } from '@stet/sdk'
import { defineCommand } from '../command.ts'
import type { Context } from '../context.ts'
import { CliError } from '../exit-code.ts'
import { findConversation } from '../ui/recent-conversations.ts'

export const command = defineCommand({
  summary: "Scores a conversation. Without --evaluation the prompt's only evaluation is used.",
  examples: [
    'stet annotate 9f0d6c1e 4 --reason "clear, slightly long"',
    'stet annotate 9f0d6c1e 1 --evaluation a3f4c5d6',
  ],
  args: {
    '<conversation>': 'its uuid, or the first 8 digits',
    '<score>': '0 or 1, or a number in the range of the evaluation',
  },
  flags: {
    '--evaluation <uuid>': 'uuid of the evaluation, or its first digits',
    '--reason <text>': 'reason for the score',
  },
  parse(raw) {
    const [ref = '', text = ''] = raw.args
    const score = Number(text)
    if (text.trim() === '' || !Number.isFinite(score))
      throw new CliError('usage', `The score must be a number, not "${text}"`)
    return { ref, score, evaluation: raw.flags.evaluation, reason: raw.flags.reason }
  },
  async run({ ref, score, evaluation, reason }, ctx) {
    const client = await ctx.client()
    const uuid = await findConversation(ref, ctx)
    const { uuid: evaluationUuid, name } = await findEvaluation(client, uuid, evaluation, ctx)
    const annotation = await client.evaluations.annotate(
      uuid,
      score,
      evaluationUuid,
      reason === undefined ? {} : { reason },
    )
    return { annotation, evaluation: name }
  },
  print({ annotation, evaluation }, { style, say }) {
    const { score, normalizedScore, hasPassed } = annotation
    const outcome = hasPassed ? 'passed' : 'failed'
    say(`${style.ok} ${score} (normalized ${normalizedScore}) · ${outcome} · evaluation "${evaluation}"`)
  },
})

async function findEvaluation(
  client: Stet,
  conversationUuid: string,
  named: string | undefined,
  ctx: Context,
): Promise<{ uuid: string; name: string }> {
  const { projectId, documentUuid, path } = await client.conversations.get(conversationUuid)
  const all = await client.evaluations.list({ projectId })
  const fitting = all.filter((one) => one.documentUuid === null || one.documentUuid === documentUuid)
  const wanted = named === undefined ? fitting : fitting.filter(({ uuid }) => uuid.startsWith(named.toLowerCase()))
  const [only, ...others] = wanted
  if (!only) {
    const hint =
      named === undefined ? 'run stet evaluations create <name> --metric rating' : 'run stet evaluations list'
    throw new CliError('not_found', `No ${named === undefined ? 'evaluation' : 'such evaluation'} for ${path}`, {
      hint,
    })
  }
  if (others.length === 0) return only
  const choices = wanted.map(({ uuid, name, metric }) => ({ value: uuid, label: `${name} (${metric})` }))
  const chosen = await ctx.choose('Which evaluation?', choices, '--evaluation <uuid>')
  return wanted.find(({ uuid }) => uuid === chosen) ?? only
}

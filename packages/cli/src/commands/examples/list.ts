import type { ExampleSummary } from '@stet/sdk'
import { defineCommand } from '../../command.ts'
import { formatAge, formatTable } from '../../terminal/output.ts'
import { findPrompt } from './find-prompt.ts'

export const command = defineCommand({
  summary: 'Lists the examples of a prompt, without their values.',
  examples: ['stet examples list support/refund', 'stet examples list support/refund --tag must --json'],
  args: { '<path>': 'the path of the prompt' },
  flags: { '--tag <tag>': 'only those with this tag' },
  parse: (raw) => ({ path: raw.args[0] ?? '', tag: raw.flags.tag }),
  async run({ path, tag }, ctx): Promise<{ path: string; examples: ExampleSummary[] }> {
    const { client, projectId, documentUuid, path: found } = await findPrompt(path, ctx)
    const all = await client.examples.list(documentUuid, { projectId, summary: true })
    return { path: found, examples: all.filter(({ tags }) => tag === undefined || tags.includes(tag)) }
  },
  print({ examples }, { io }) {
    const columns = [
      { head: 'NAME', cell: ({ name }: ExampleSummary) => name },
      { head: 'EXPECTS', cell: expectation },
      { head: 'TAGS', cell: ({ tags }: ExampleSummary) => tags.join(', ') },
      { head: 'FROM RUN', cell: ({ sourceRunUuid }: ExampleSummary) => sourceRunUuid?.slice(0, 8) ?? '' },
      { head: 'CHANGED', cell: ({ updatedAt }: ExampleSummary) => formatAge(updatedAt) },
    ]
    io.out(formatTable(columns, examples, io))
  },
})

function expectation({ hasExpected, checkCount }: ExampleSummary): string {
  const checks = checkCount === 1 ? '1 check' : `${checkCount} checks`
  const parts = [...(hasExpected ? ['answer'] : []), ...(checkCount > 0 ? [checks] : [])]
  return parts.join(', ') || 'nothing'
}

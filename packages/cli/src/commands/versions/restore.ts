import { defineCommand } from '../../command.ts'
import { describeVersion, findDraft } from '../../sync/version-ref.ts'

export const command = defineCommand({
  summary: 'Restores a draft that was deleted within the last 30 days.',
  examples: ['stet versions restore "tone pass"', 'stet versions restore 0b9c7b7e'],
  args: { '<draft>': 'its name, its uuid, or the first 8 digits' },
  parse: ({ args }) => ({ ref: args[0] ?? '' }),
  async run({ ref }, ctx) {
    await ctx.projectId()
    const client = await ctx.client()
    const draft = await findDraft(client, ref, true)
    return { version: await client.versions.restore(draft.uuid) }
  },
  print({ version }, { style, say }) {
    say(`${style.ok} Restored ${describeVersion(version)}`)
  },
})

import { defineCommand } from '../../command.ts'
import { findDraft } from '../../sync/version-ref.ts'

export const command = defineCommand({
  summary: 'Renames a draft.',
  examples: ['stet versions rename "tone pass" "friendlier tone"', 'stet versions rename 0b9c7b7e "friendlier tone"'],
  args: {
    '<draft>': 'its name, its uuid, or the first 8 digits',
    '<name>': 'the new name',
  },
  parse: ({ args }) => ({ ref: args[0] ?? '', name: args[1] ?? '' }),
  async run({ ref, name }, ctx) {
    await ctx.projectId()
    const client = await ctx.client()
    const draft = await findDraft(client, ref)
    return { version: await client.versions.update(draft.uuid, { name }) }
  },
  print({ version }, { style, say }) {
    say(`${style.ok} Renamed the draft to "${version.title}"`)
  },
})

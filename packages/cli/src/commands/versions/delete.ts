import { defineCommand } from '../../command.ts'
import { CliError } from '../../exit-code.ts'
import { describeVersion, findDraft, isDraft, listDrafts } from '../../sync/version-ref.ts'
import { shortUuid } from '../../terminal/output.ts'

export const command = defineCommand({
  summary: 'Deletes a draft. Its conversations stay, and it can be restored for 30 days.',
  examples: ['stet versions delete "tone pass"', 'stet versions delete "$BRANCH" --if-exists --yes'],
  args: { '<draft>': 'its name, its uuid, or the first 8 digits' },
  flags: { '--if-exists': 'succeed if no draft has this name or uuid' },
  parse: (raw) => ({ ref: raw.args[0] ?? '', isOptional: raw.flags.ifExists }),
  async run({ ref, isOptional }, ctx) {
    await ctx.projectId()
    const client = await ctx.client()
    // Scripts pass names of branches, which may be the first digits of a uuid.
    const isPresent = async () => (await listDrafts(client, false)).some((draft) => isDraft(draft, ref))
    if (isOptional && !(await isPresent())) return { version: null }
    const draft = await findDraft(client, ref)
    if (!(await ctx.confirm(`Delete ${describeVersion(draft)}?`, '--yes'))) {
      throw new CliError('usage', 'Nothing was deleted')
    }
    return { version: await client.versions.delete(draft.uuid) }
  },
  print({ version }, { style, say, program }, { ref }) {
    if (!version) return say(`${style.ok} No draft is named ${ref}`)
    say(`${style.ok} Deleted ${describeVersion(version)}`)
    say(`  Restore: ${program} versions restore ${shortUuid(version.uuid)}`)
  },
})

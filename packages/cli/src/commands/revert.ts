import type { RevertResult, Stet, Version } from '@stet/sdk'
import { defineCommand } from '../command.ts'
import type { Context } from '../context.ts'
import { CliError } from '../exit-code.ts'
import { promptNamed } from '../sync/prompt-path.ts'
import { describeVersion, findVersion } from '../sync/version-ref.ts'

export const command = defineCommand({
  summary: "Discards changes of the draft and restores live's text. Local files stay unchanged until stet pull.",
  examples: ['stet revert support/reply', 'stet revert --yes', 'stet revert -V 0b9c7b7e support/reply support/triage'],
  args: { '[path...]': 'prompts (all changes of the draft)' },
  parse: ({ args }) => ({ names: args }),
  async run({ names }, ctx): Promise<RevertResult> {
    const client = await ctx.client()
    const draft = await findDraft(client, ctx)
    const paths = await Promise.all(names.map((name) => promptNamed(name, ctx)))
    const listed = paths.length > 0 ? paths : await changedPaths(client, draft)
    if (listed.length === 0) return { versionUuid: draft.uuid, reverted: [] }
    const question = `Drop the changes of ${describeVersion(draft)} to ${listed.join(', ')}?`
    if (!(await ctx.confirm(question, '--yes'))) throw new CliError('usage', 'Nothing was changed')
    const result = await client.versions.revert(draft.uuid, { paths: listed })
    if (result.reverted.length > 0 || paths.length === 0) return result
    throw new CliError('not_found', `${describeVersion(draft)} does not change ${listed.join(', ')}`, {
      hint: `run stet versions show ${draft.uuid.slice(0, 8)}`,
    })
  },
  print({ reverted }, { style, say }) {
    for (const { path, action } of reverted) say(`${style.down} ${action.padEnd(8)} ${path}`)
    if (reverted.length === 0) say(`${style.ok} The draft has no changes`)
    else say(`${style.ok} ${reverted.length} reverted; stet pull updates the files`)
  },
})

async function findDraft(client: Stet, ctx: Context): Promise<Version> {
  await ctx.projectId()
  const { lock, versionRef } = await ctx.settings()
  const ref = versionRef?.value ?? lock?.version.uuid
  if (ref === undefined) throw new CliError('usage', 'Missing input: the draft', { hint: 'pass --version-uuid <ref>' })
  const version = await findVersion(client, ref)
  if (version.status === 'draft') return version
  throw new CliError('conflict', `${describeVersion(version)} is already published: it has no changes to drop`, {
    hint: 'run stet rollback to restore an earlier version',
  })
}

async function changedPaths(client: Stet, draft: Version): Promise<string[]> {
  return (await client.versions.diff(draft.uuid)).changes.map(({ path }) => path)
}

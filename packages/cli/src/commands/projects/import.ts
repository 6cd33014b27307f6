import { resolve } from 'node:path'
import type { Stet } from '@stet/sdk'
import { defineCommand, hasFlag, textFlag } from '../../command.ts'
import type { Context } from '../../context.ts'
import { CliError } from '../../exit-code.ts'
import { countOf } from '../../output.ts'
import { showProgress } from '../../ui/progress.ts'
import { importHistory } from './archive/import-project.ts'
import { type ImportTarget, nameTarget, openTarget, removeTarget } from './archive/import-target.ts'
import { archiveEnding, type ProjectArchive } from './archive/project-archive.ts'
import { readArchive } from './archive/read-archive.ts'
import { readProjectId } from './project-id.ts'

interface ImportProjectInput {
  file: string
  name: string | undefined
  into: number | undefined
  keepsUuids: boolean
}

export const command = defineCommand({
  summary: 'Creates a project from an archive of "stet projects export", with its history. Needs an admin key.',
  examples: [
    `stet projects import support${archiveEnding}`,
    `stet projects import support${archiveEnding} --name "Support copy" --new-uuids`,
    `stet projects import support${archiveEnding} --into 7`,
  ],
  args: [{ name: 'file', summary: 'the archive', isRequired: true }],
  flags: [
    { long: '--name', value: '<name>', summary: 'name of the new project (the name in the archive)' },
    { long: '--into', value: '<project>', summary: 'an existing project that is empty or has the first versions' },
    { long: '--new-uuids', summary: 'give the versions new uuids, for a copy on the same server' },
  ],
  parse(raw): ImportProjectInput {
    const [name, into] = [textFlag(raw, 'name'), textFlag(raw, 'into')]
    if (name !== undefined && into !== undefined) throw new CliError('usage', 'Pass either --name or --into')
    return {
      file: raw.args[0] ?? '',
      name,
      into: into === undefined ? undefined : readProjectId(into, '--into'),
      keepsUuids: !hasFlag(raw, 'newUuids'),
    }
  },
  async run(input, ctx) {
    const archive = await readArchive(resolve(ctx.io.cwd, input.file))
    const client = await ctx.client()
    await requireAdmin(client)
    const name = input.name ?? archive.project.name
    const target = await openTarget({ ...input, client, archive, name })
    try {
      const history = await importAll(ctx, client, { ...input, archive, target })
      await nameTarget(client, target, name)
      const project = { id: target.projectId, name: input.into === undefined ? name : null }
      return { project, isContinued: !target.isNew, ...history }
    } catch (error) {
      throw await undo(client, target, error)
    }
  },
  print({ project, versions, drafts, evaluations, examples }, { io, say, style }) {
    io.out(`${project.id}\n`)
    const counts = [
      countOf(versions, 'version'),
      countOf(drafts, 'draft'),
      countOf(evaluations.length, 'evaluation'),
      countOf(examples, 'example'),
    ]
    const name = project.name === null ? '' : ` "${project.name}"`
    say(`${style.ok} Imported ${counts.join(', ')} into project ${project.id}${name}`)
    say('  Next: stet providers list  (an archive contains no provider keys)')
  },
})

function importAll(
  ctx: Context,
  client: Stet,
  input: { archive: ProjectArchive; target: ImportTarget; keepsUuids: boolean },
) {
  return showProgress(ctx, 'versions imported', (onProgress) => importHistory({ ...input, client, onProgress }))
}

/** Checked first, so that no import fails halfway because the key lacks a scope. */
async function requireAdmin(client: Stet): Promise<void> {
  const { apiKey } = await client.me()
  if (apiKey.scopes.includes('admin')) return
  throw new CliError('not_allowed', 'The import needs an API key with the scope admin', {
    hint: 'run stet login with an admin key',
  })
}

async function undo(client: Stet, target: ImportTarget, error: unknown): Promise<unknown> {
  const { ApiError } = await import('@stet/sdk')
  const isRemoved = await removeTarget(client, target)
  if (error instanceof ApiError && error.reason === 'version-uuid-taken') {
    return new CliError('conflict', 'The server has these versions in another project', {
      hint: 'pass --new-uuids to import a copy',
    })
  }
  if (isRemoved || target.unfinishedName === undefined) return error
  const message = error instanceof Error ? error.message : String(error)
  return new CliError('unexpected', `The import did not finish: ${message}`, {
    cause: error,
    hint: `run the command again to continue project ${target.projectId}, or run stet projects delete ${target.projectId}`,
  })
}

import { resolve } from 'node:path'
import type { Stet } from '@stet/sdk'
import { defineCommand } from '../../command.ts'
import { CliError } from '../../exit-code.ts'
import { requireReleases } from '../../settings/client.ts'
import { countOf } from '../../terminal/output.ts'
import { Interruption } from '../../ui/interruption.ts'
import { showProgress } from '../../ui/progress.ts'
import { importHistory } from './archive/import-project.ts'
import { type ImportTarget, nameTarget, openTarget, removeTarget, unfinishedNameOf } from './archive/import-target.ts'
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
  summary:
    'Creates a project from an archive of "stet projects export", with its history but without its releases. Needs an admin key.',
  examples: [
    `stet projects import support${archiveEnding}`,
    `stet projects import support${archiveEnding} --name "Support copy" --new-uuids`,
    `stet projects import support${archiveEnding} --into 7`,
  ],
  args: { '<file>': 'the archive' },
  flags: {
    '--name <name>': 'name of the new project (the name in the archive)',
    '--into <project>': 'an existing project that is empty or has the first versions',
    '--new-uuids': 'give the versions new uuids, for a copy on the same server',
  },
  parse(raw): ImportProjectInput {
    const [name, into] = [raw.flags.name, raw.flags.into]
    if (name !== undefined && into !== undefined) throw new CliError('usage', 'Pass either --name or --into')
    return {
      file: raw.args[0] ?? '',
      name,
      into: into === undefined ? undefined : readProjectId(into, '--into'),
      keepsUuids: !raw.flags.newUuids,
    }
  },
  async run(input, ctx) {
    const archive = await readArchive(resolve(ctx.io.cwd, input.file))
    const client = await ctx.client()
    await requireAdmin(client)
    const name = input.name ?? archive.project.name
    const interruption = new Interruption(ctx)
    const { signal } = interruption
    let target: ImportTarget | undefined
    let done = 0
    try {
      target = await openTarget({ ...input, client, archive, name, signal })
      const history = await showProgress(ctx, 'versions imported', (onProgress) =>
        importHistory({
          ...{ client, archive, target: target as ImportTarget, signal },
          onProgress(count, total) {
            done = count
            onProgress(count, total)
          },
        }),
      )
      await nameTarget(client, target, { name, signal })
      const project = { id: target.projectId, name: input.into === undefined ? name : null }
      return { project, isContinued: !target.isNew, ...history }
    } catch (error) {
      interruption.throwIfInterrupted(leftBy({ target, name, into: input.into, done, archive }))
      throw target ? await undo(client, target, error) : error
    } finally {
      interruption.end()
    }
  },
  print({ project, versions, drafts, evaluations, examples }, { io, say, style, program }) {
    io.out(`${project.id}\n`)
    const counts = [
      countOf(versions, 'version'),
      countOf(drafts, 'draft'),
      countOf(evaluations.length, 'evaluation'),
      countOf(examples, 'example'),
    ]
    const name = project.name === null ? '' : ` "${project.name}"`
    say(`${style.ok} Imported ${counts.join(', ')} into project ${project.id}${name}`)
    say(`  Next: ${program} providers list  (an archive contains no provider keys)`)
  },
})

interface Left {
  target: ImportTarget | undefined
  name: string
  into: number | undefined
  done: number
  archive: ProjectArchive
}

/** Says what an interrupted import leaves behind. A request that was under way may still have created the project. */
function leftBy({ target, name, into, done, archive }: Left): string {
  const again = 'run the command again to continue'
  if (!target && into !== undefined) return `Interrupted before the import: project ${into} is unchanged`
  if (!target)
    return `Interrupted at the start: if stet projects list shows "${unfinishedNameOf(name)}", ${again}, or delete it with stet projects delete`
  const { projectId, unfinishedName, merged } = target
  const count = `${Math.max(done, merged.length)} of ${countOf(archive.versions.length, 'version')}`
  if (unfinishedName === undefined) return `Interrupted: project ${projectId} has ${count}; ${again}`
  return `Interrupted: project ${projectId} "${unfinishedName}" has ${count}; ${again}, or stet projects delete ${projectId} to remove it`
}

/** Checked first, so that no import fails halfway because the key lacks a scope. */
async function requireAdmin(client: Stet): Promise<void> {
  const { apiKey } = await requireReleases(client)
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

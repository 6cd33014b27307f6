import { stat } from 'node:fs/promises'
import { resolve } from 'node:path'
import { defineCommand } from '../../command.ts'
import { CliError } from '../../exit-code.ts'
import { writeFileAtomically } from '../../settings/write-file.ts'
import { countOf, shownFile } from '../../terminal/output.ts'
import { showProgress } from '../../ui/progress.ts'
import { exportProject } from './archive/export-project.ts'
import { archiveEnding, isDraft, liveOf } from './archive/project-archive.ts'
import { packArchive } from './archive/write-archive.ts'
import { findProject, readProjectId } from './project-id.ts'

export const command = defineCommand({
  summary: 'Writes a whole project with its history to one file, for "stet projects import" on another server.',
  examples: [
    `stet projects export 7 support${archiveEnding}`,
    `stet projects export 7 support${archiveEnding} --force`,
  ],
  args: {
    '<project>': 'its id',
    '<file>': `the archive, usually <name>${archiveEnding}`,
  },
  flags: { '--force': 'replace an existing file' },
  parse: (raw) => ({
    id: readProjectId(raw.args[0] ?? '', 'project'),
    file: raw.args[1] ?? '',
    isForced: raw.flags.force,
  }),
  async run({ id, file, isForced }, ctx) {
    const target = resolve(ctx.io.cwd, file)
    const isThere = await stat(target).catch(() => undefined)
    if (isThere && !isForced)
      throw new CliError('conflict', `${file} already exists`, { hint: 'pass --force to replace it' })
    const client = await ctx.client()
    const project = await findProject(client, id)
    const archive = await showProgress(ctx, 'versions read', (onProgress) => exportProject(client, project, onProgress))
    const bytes = packArchive(archive)
    await writeFileAtomically(target, bytes)
    const drafts = archive.versions.filter(isDraft).length
    return {
      file: shownFile(target, ctx.io.cwd),
      bytes: bytes.length,
      project: { id, name: project.name },
      prompts: liveOf(archive).size,
      versions: archive.versions.length - drafts,
      drafts,
      evaluations: archive.evaluations.length,
      examples: archive.examples.length,
      skipped: archive.skipped,
    }
  },
  print({ file, project, prompts, versions, drafts, evaluations, examples, skipped }, { io, say, style, warn }) {
    io.out(`${file}\n`)
    for (const name of skipped) warn(`Skipped the evaluation "${name}": its prompt is in no version`)
    const counts = [
      countOf(prompts, 'live prompt'),
      countOf(versions, 'version'),
      countOf(drafts, 'draft'),
      countOf(evaluations, 'evaluation'),
      countOf(examples, 'example'),
    ]
    say(`${style.ok} Exported project ${project.id} "${project.name}": ${counts.join(', ')}`)
    say('  Provider keys, API keys and conversations are not part of an archive')
  },
})

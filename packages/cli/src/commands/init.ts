import { existsSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import type { Project, Stet, Version } from '@stet/sdk'
import { defined } from '@stet/template/defined'
import { defineCommand } from '../command.ts'
import type { Context } from '../context.ts'
import { CliError, exitCodes } from '../exit-code.ts'
import { configFileName, schemaSeenFrom } from '../settings/config-file.ts'
import { parseJsonObject, readTextIfPresent } from '../settings/json-file.ts'
import { type LatitudeLock, latitudeLockName, readLatitudeLock } from '../settings/latitude-lock.ts'
import type { Settings } from '../settings/resolve.ts'
import { isWithin, writeFileAtomically } from '../settings/write-file.ts'
import { describeVersion, findLiveOrNewestDraft, findVersion } from '../sync/version-ref.ts'
import { saveLock } from '../sync/workspace.ts'
import { firstPrompt, isFresh, writeFirstPrompt } from './first-prompt.ts'
import { exitCodeOf, type PullReport, pull, sayPull } from './pull.ts'

interface InitReport {
  project: Pick<Project, 'id' | 'name'>
  version: Version
  written: string[]
  pull: PullReport | null
  /** True if the folder was empty and now has an example prompt. */
  hasExample: boolean
}

interface InitInput {
  create: string | undefined
  dir: string | undefined
  readsLatitude: boolean
  wantsPull: boolean
  isForced: boolean
}

export const command = defineCommand({
  summary:
    'Connects this folder to a project: writes stet.config.json and stet.lock.json, and pulls the prompts. An empty folder gets an example prompt and a .gitignore.',
  examples: [
    'stet init --project 1',
    'stet init --create "Support bot" --dir prompts',
    'stet init --from-latitude --project 1',
  ],
  flags: {
    '--create <name>': 'create a new project with this name',
    '--dir <folder>': 'folder of the prompt files (prompts)',
    '--from-latitude': `use the project, folder and version in ${latitudeLockName}`,
    '--no-pull': 'write only the configuration and the lock',
    '--force': 'replace an existing configuration and lock',
  },
  parse(raw): InitInput {
    return {
      create: raw.flags.create,
      readsLatitude: raw.flags.fromLatitude,
      dir: raw.flags.dir,
      wantsPull: raw.flags.pull,
      isForced: raw.flags.force,
    }
  },
  async run(input, ctx): Promise<InitReport> {
    const settings = await ctx.settings()
    if (settings.lock && !input.isForced) {
      throw new CliError('usage', `${settings.lockFile} exists: this folder is already connected`, {
        hint: 'run stet status, or stet init --force to start over',
      })
    }
    const client = await ctx.client()
    const fresh = await isFresh(settings)
    const former = await findFormerLock(input, settings, ctx)
    const { project, version } = await chooseProject(client, input.create, former, settings, ctx)
    await writeConfig(settings, project.id, input.dir ?? former?.rootFolder)
    await saveLock({ settings }, version, version.isLive, {})
    // The new files change the settings, so the next context resolves the settings again.
    const next = ctx.reopened({ project: String(project.id) })
    const written = [configFileName, relative(settings.root, settings.lockFile)]
    const report = input.wantsPull ? await pull(next, { names: [], isPruning: false, isDry: false }) : undefined
    const hasExample = fresh && report !== undefined && report.changes.length + report.refused.length === 0
    if (hasExample) written.push(...(await writeFirstPrompt(await next.settings())))
    return { project: { id: project.id, name: project.name }, version, written, pull: report ?? null, hasExample }
  },
  print({ project, version, written, pull, hasExample }, ctx) {
    ctx.say(`${ctx.style.ok} Project ${project.id} "${project.name}" · ${describeVersion(version)}`)
    ctx.say(`${ctx.style.ok} Wrote ${written.join(', ')}`)
    if (pull) sayPull(pull, ctx)
    if (hasExample) {
      ctx.say('  Next: send the example to a draft, and run it')
      ctx.say(`${ctx.program} push && ${ctx.program} run ${firstPrompt} -p name=Ana`)
    } else ctx.say(`  Next: edit a file, then  ${ctx.program} push`)
  },
  exitCode: ({ pull }) => (pull ? exitCodeOf(pull) : exitCodes.success),
})

// Adopts the old lock only if the user agrees: its ids may belong to another server.
async function findFormerLock(
  { readsLatitude, create }: InitInput,
  { root }: Settings,
  ctx: Context,
): Promise<LatitudeLock | undefined> {
  const lock = await readLatitudeLock(root)
  if (!lock && readsLatitude) throw new CliError('not_found', `${latitudeLockName} not found in ${root}`)
  if (!lock || readsLatitude) return lock
  if (!ctx.isInteractive || create !== undefined) {
    ctx.say(`Found ${latitudeLockName}: use --from-latitude to adopt its project, folder and version`)
    return undefined
  }
  const question = `Use project ${lock.projectId} and folder ${lock.rootFolder} from ${latitudeLockName}?`
  return (await ctx.confirm(question, '--from-latitude')) ? lock : undefined
}

async function chooseProject(
  client: Stet,
  name: string | undefined,
  former: LatitudeLock | undefined,
  settings: Settings,
  ctx: Context,
): Promise<{ project: Pick<Project, 'id' | 'name'>; version: Version }> {
  if (name !== undefined) return client.projects.create(name)
  const projects = await client.projects.list()
  const id = settings.projectId?.value ?? former?.projectId ?? (await askForProject(projects, ctx))
  const project = projects.find((one) => one.id === id)
  if (!project) {
    throw new CliError('not_found', `Project ${id} not found (${settings.projectId?.origin ?? latitudeLockName})`, {
      hint: 'run stet init --create <name>',
    })
  }
  const scoped = client.project(id)
  const ref = settings.versionRef?.value
  if (ref !== undefined) return { project, version: await findVersion(scoped, ref) }
  return { project, version: (await findFormerVersion(scoped, former)) ?? (await findLiveOrNewestDraft(scoped)) }
}

async function askForProject(projects: readonly Project[], ctx: Context): Promise<number> {
  const choices = projects.map(({ id, name }) => ({ value: String(id), label: name }))
  const flags = '--project <id>, or --create <name>'
  if (choices.length === 0) throw new CliError('usage', 'The workspace has no projects yet', { hint: `pass ${flags}` })
  return Number(await ctx.choose('Which project?', choices, flags))
}

// Returns the old lock's version if it is a draft on this server.
async function findFormerVersion(client: Stet, former: LatitudeLock | undefined): Promise<Version | undefined> {
  if (!former) return undefined
  const versions = await client.versions.list({ status: 'draft' })
  return versions.find(({ uuid }) => uuid === former.version)
}

async function writeConfig(settings: Settings, projectId: number, dir: string | undefined): Promise<void> {
  const file = settings.configFile ?? join(settings.root, configFileName)
  const text = existsSync(file) ? await readTextIfPresent(file) : undefined
  const before = text === undefined ? {} : parseJsonObject(text, file)
  const schema = schemaSeenFrom(dirname(file))
  const config = {
    ...defined({ $schema: schema }),
    ...before,
    baseUrl: settings.baseUrl.value.replace(/\/api\/v3$/, ''),
    projectId,
    promptsDir: dir === undefined ? settings.config.promptsDir : await folderBelow(settings.root, dir),
  }
  await writeFileAtomically(file, `${JSON.stringify(config, null, 2)}\n`)
}

async function folderBelow(root: string, dir: string): Promise<string> {
  const way = relative(root, resolve(root, dir)).replaceAll('\\', '/')
  if (!(await isWithin(root, resolve(root, dir))))
    throw new CliError('usage', `${dir} is outside ${root}`, { hint: 'check --dir' })
  return way === '' ? '.' : way
}

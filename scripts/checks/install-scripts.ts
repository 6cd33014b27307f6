/**
 * Fails if one of our packages has an install script, or if a dependency has an unreviewed one. All other checks run
 * with install scripts blocked.
 * So far it caught a dependency of BullMQ, which is bundled since (ADR 61).
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { parse } from 'yaml'

const installSteps = ['preinstall', 'install', 'postinstall']
const faults: string[] = []

const workspace = parse(readFileSync('pnpm-workspace.yaml', 'utf8')) as Record<string, unknown>
if (!isDeepStrictEqual(workspace['onlyBuiltDependencies'], []))
  faults.push('pnpm-workspace.yaml: onlyBuiltDependencies is not []')
if ('dangerouslyAllowAllBuilds' in workspace) faults.push('pnpm-workspace.yaml: dangerouslyAllowAllBuilds is set')

// Users install our packages with other package managers, which would run these scripts.
const own = ['.', 'bench', ...readdirSync('packages').map((name) => join('packages', name))]
for (const folder of own.filter(runsAtInstall)) faults.push(`${folder} has an install script`)

// Each ignored dependency works without its build step. Review every addition.
const known = new Set(workspace['ignoredBuiltDependencies'] as string[])
const installed = installedPackages()
const blocked = installed.filter(({ folder }) => runsAtInstall(folder)).map(({ name }) => name)
for (const name of new Set(blocked.filter((each) => !known.has(each)))) faults.push(`${name} wants to run at install`)

for (const fault of faults) console.error(fault)
console.log(`install scripts: ${installed.length} packages, ${blocked.length} blocked, ${faults.length} faults`)
process.exitCode = faults.length === 0 && installed.length > 0 ? 0 : 1

function runsAtInstall(folder: string): boolean {
  const manifest = join(folder, 'package.json')
  if (!existsSync(manifest)) return false
  const { scripts = {} } = JSON.parse(readFileSync(manifest, 'utf8')) as { scripts?: Record<string, string> }
  // npm compiles a package that contains this file, even without a script.
  return installSteps.some((step) => step in scripts) || existsSync(join(folder, 'binding.gyp'))
}

/** Returns the packages that pnpm unpacked for this workspace, without symlinks to them. */
function installedPackages(): { name: string; folder: string }[] {
  const store = join('node_modules', '.pnpm')
  const roots = readdirSync(store).map((entry) => join(store, entry, 'node_modules'))
  return roots.filter(existsSync).flatMap((root) => {
    const scopes = readdirSync(root).filter((entry) => entry.startsWith('@'))
    const places = ['', ...scopes].flatMap((scope) =>
      readdirSync(join(root, scope), { withFileTypes: true })
        .filter((entry) => entry.isDirectory() && !entry.name.startsWith('@') && !entry.name.startsWith('.'))
        .map((entry) => (scope === '' ? entry.name : `${scope}/${entry.name}`)),
    )
    return places.map((name) => ({ name, folder: join(root, name) }))
  })
}

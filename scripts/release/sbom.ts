/** The bill of materials of an installation, in CycloneDX 1.6, and the licenses in it. */
import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Spec, Validation } from '@cyclonedx/cyclonedx-library'
import { released, root } from './packages.ts'

/** Licenses that allow use in closed-source products and require at most a notice. */
const ALLOWED = new Set([
  '0BSD',
  'Apache-2.0',
  'BlueOak-1.0.0',
  'BSD-2-Clause',
  'BSD-3-Clause',
  'ISC',
  'MIT',
  // Fonts of the console.
  'OFL-1.1',
  'Unlicense',
])

interface Component {
  type: string
  group?: string
  name: string
  version?: string
  purl?: string
  licenses?: ({ license: { id?: string; name?: string } } | { expression: string })[]
  components?: Component[]
}

/** Writes the bill of materials of the packages installed in `folder`. @returns the number of components */
export async function writeSbom(folder: string, file: string): Promise<number> {
  const tool = join(root, 'node_modules', '@cyclonedx', 'cyclonedx-npm', 'bin', 'cyclonedx-npm-cli.js')
  const options = ['--omit', 'dev', '--spec-version', '1.6', '--output-reproducible', '--output-file', file]
  // Under `pnpm run`, the variable names pnpm, and the tool would call pnpm instead of npm.
  const { npm_execpath: _, ...env } = process.env
  execFileSync(process.execPath, [tool, ...options], { cwd: folder, env, stdio: ['ignore', 'inherit', 'inherit'] })
  const bom = JSON.parse(readFileSync(file, 'utf8')) as { components: Component[] }
  for (const each of released) addBundled(bom.components, each, folder)
  const text = `${JSON.stringify(bom, null, 1)}\n`
  const problems = await new Validation.JsonStrictValidator(Spec.Version.v1dot6).validate(text)
  if (problems !== null) throw new Error(`${file} is not valid CycloneDX: ${JSON.stringify(problems)}`)
  const all = allComponents(bom.components)
  const refused = all.filter((each) => !isAllowed(each)).map((each) => `${each.name} ${JSON.stringify(each.licenses)}`)
  if (refused.length > 0) throw new Error(`licenses that are not on the list: ${refused.join(', ')}`)
  writeFileSync(file, text)
  return all.length
}

/** npm lists only installed packages. Adds each bundled package as a component of the package that bundles it. */
function addBundled(components: Component[], name: string, folder: string): void {
  const owner = components.find((each) => each.group === '@stet' && each.name === name)
  if (owner === undefined) throw new Error(`the bill of materials has no @stet/${name}`)
  const dist = join(folder, 'node_modules', '@stet', name, 'dist')
  const lists = name === 'server' ? ['LICENSES.txt', 'console/LICENSES.txt'] : ['LICENSES.txt']
  const text = lists.map((list) => readFileSync(join(dist, list), 'utf8')).join('\n')
  const bundled = bundledPackages(text).map(({ name: full, version, license }): Component => {
    const [group, bare] = full.startsWith('@') ? full.split('/') : [undefined, full]
    return {
      type: 'library',
      ...(group !== undefined && { group }),
      name: bare ?? full,
      version,
      licenses: [{ license: { id: license } }],
      purl: `pkg:npm/${full.replace('@', '%40')}@${version}`,
    }
  })
  owner.components = [...(owner.components ?? []), ...bundled]
}

/** Reads the titles that `scripts/build/bundled-licenses.ts` writes. The server and its console may bundle the same package. */
function bundledPackages(text: string): { name: string; version: string; license: string }[] {
  const titles = [...text.matchAll(/^== (\S+)@(\S+) \((.+)\) ==$/gm)]
  const unique = new Map(titles.map((title) => [title[0], title]))
  return [...unique.values()].map(([, name = '', version = '', spdx = '']) => ({ name, version, license: spdx }))
}

function allComponents(components: readonly Component[]): Component[] {
  return components.flatMap((each) => [each, ...allComponents(each.components ?? [])])
}

function isAllowed({ licenses = [] }: Component): boolean {
  const ids = licenses.map((each) => ('expression' in each ? each.expression : (each.license.id ?? '')))
  // `(MIT OR GPL-3.0)` leaves the choice to the user.
  const isFine = (id: string): boolean =>
    id
      .replace(/[()]/g, '')
      .split(' OR ')
      .some((choice) => ALLOWED.has(choice))
  return ids.length > 0 && ids.every(isFine)
}

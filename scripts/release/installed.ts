/** Inspects an installation: its size and its install scripts. */
import { existsSync, lstatSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** Returns the bytes of all files in `node_modules`. */
export function installedBytes(folder: string): number {
  const files = readdirSync(join(folder, 'node_modules'), { recursive: true, withFileTypes: true })
  return files
    .filter((entry) => entry.isFile())
    .reduce((sum, { parentPath, name }) => sum + lstatSync(join(parentPath, name)).size, 0)
}

/** Returns the names of installed packages that would run code at install time. */
export function installScripts(folder: string): string[] {
  return installedPackages(folder).filter((each) => {
    const { scripts = {} } = JSON.parse(readFileSync(join(each, 'package.json'), 'utf8')) as {
      scripts?: Record<string, string>
    }
    // npm compiles a package that contains this file, even without a script.
    const compiles = existsSync(join(each, 'binding.gyp'))
    return compiles || ['preinstall', 'install', 'postinstall'].some((step) => step in scripts)
  })
}

function installedPackages(folder: string): string[] {
  const modules = join(folder, 'node_modules')
  if (!existsSync(modules)) return []
  const names = readdirSync(modules).filter((name) => !name.startsWith('.'))
  const folders = names.flatMap((name) =>
    name.startsWith('@')
      ? readdirSync(join(modules, name)).map((each) => join(modules, name, each))
      : [join(modules, name)],
  )
  return folders.flatMap((each) => [each, ...installedPackages(each)])
}

/** Writes `dist/LICENSES.txt` with the licenses of all packages that a build bundles into `dist`. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import license, { type Dependency } from 'rollup-plugin-license'
import { standardLicenses } from './standard-licenses.ts'

const HEAD = 'The programs in this folder contain code of the packages below, under these licenses.\n'

/** The fields of a package that its license notice needs. */
type Bundled = Pick<Dependency, 'name' | 'version' | 'license' | 'author' | 'licenseText' | 'noticeText'>

/**
 * Returns a plugin that all builds of one package share, so that the file lists the packages of all of them.
 * @param copied packages whose files the build copies without making them part of a program, for example fonts
 */
export function bundledLicenses(packageRoot: string, copied: readonly string[] = []): ReturnType<typeof license> {
  const titlesByText = new Map<string, Set<string>>()
  return license({
    thirdParty(dependencies) {
      const all: Bundled[] = [
        ...dependencies,
        ...copied.map((name) => copiedPackage(join(packageRoot, 'node_modules', name))),
      ]
      for (const each of all) {
        if (each.name?.startsWith('@stet/')) continue
        const text = textOf(each)
        titlesByText.set(text, (titlesByText.get(text) ?? new Set()).add(titleOf(each)))
      }
      if (titlesByText.size === 0) return
      const sections = [...titlesByText].map(([text, titles]) => `${[...titles].sort().join('\n')}\n\n${text}`)
      mkdirSync(join(packageRoot, 'dist'), { recursive: true })
      writeFileSync(join(packageRoot, 'dist', 'LICENSES.txt'), [HEAD, ...sections.sort()].join('\n\n'))
    },
  })
}

function copiedPackage(folder: string): Bundled {
  const { name, version, license: spdx } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
  const licenseText = readFileSync(join(folder, 'LICENSE'), 'utf8')
  return { name, version, license: spdx, author: null, licenseText, noticeText: null }
}

function titleOf({ name, version, license: spdx }: Bundled): string {
  if (!name || !version || !spdx) throw new Error(`A bundled package has no name, version or license: ${name}`)
  return `== ${name}@${version} (${spdx}) ==`
}

function textOf({ name, license: spdx, author, licenseText, noticeText }: Bundled): string {
  const text = [licenseText, noticeText].filter((each) => each?.trim()).join('\n\n')
  if (text !== '') return `${text.trim()}\n`
  const standard = standardLicenses[spdx ?? '']
  if (standard === undefined) throw new Error(`The bundled package ${name} has no license file`)
  return `Copyright (c) ${author?.text() ?? `contributors of ${name}`}\n\n${standard}`
}

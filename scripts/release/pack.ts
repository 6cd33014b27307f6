/** `pnpm release:pack`: builds the released packages and writes their tarballs into `release/`. */
import { statSync } from 'node:fs'
import { join, relative } from 'node:path'
import { buildPackages, packPackages, root } from './packages.ts'

buildPackages()
for (const { name, version, tarball } of packPackages(join(root, 'release'))) {
  console.log(`${name} ${version}  ${relative(root, tarball)}  ${(statSync(tarball).size / 1e6).toFixed(1)} MB`)
}

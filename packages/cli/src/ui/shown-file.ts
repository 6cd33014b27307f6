import { relative, sep } from 'node:path'

/** A file as people name it: from the working folder, with `/`. */
export function shownFile(file: string, cwd: string): string {
  return relative(cwd, file).split(sep).join('/')
}

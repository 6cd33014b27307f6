import { relative, sep } from 'node:path'

/** A file's path for display: relative to the working folder, with `/`. */
export function shownFile(file: string, cwd: string): string {
  return relative(cwd, file).split(sep).join('/')
}

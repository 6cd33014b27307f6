/** Writes docs/configuration.md from the settings; with `--check` it fails when the file differs. */
import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { type Setting, settings } from '../src/settings.ts'

const file = fileURLToPath(new URL('../../../docs/configuration.md', import.meta.url))

const rows = Object.values<Setting<unknown>>(settings).map(({ variable, fallback, fallbackNote, meaning }) => {
  const byDefault = fallbackNote ?? (fallback === undefined ? 'not set' : fallback === '' ? 'empty' : `\`${fallback}\``)
  return `| \`${variable}\` | ${byDefault} | ${meaning} |`
})

const text = `# Configuration

All settings are environment variables, read once at start. A wrong one stops the start with a line that names it; an empty one counts
as not set. An unknown variable that starts with \`STET_\` is a warning in the log, with the setting that was probably meant. This page is made from the settings themselves (\`pnpm --filter @stet/server configuration\`).

| variable | default | meaning |
|---|---|---|
${rows.join('\n')}

## Files in the data folder (embedded)

| file | what it is |
|---|---|
| \`db/\` | the database; only the server opens it, under a lock |
| \`admin.key\` | the admin API key of the first start, mode 0600; delete it once it is kept elsewhere |
| \`encryption.key\` | seals provider tokens, mode 0600; back it up apart from the database |

## Commands of the server's bin

| command | does |
|---|---|
| \`stet-server\` | starts the server |
| \`stet-server backup <file>\` | writes the embedded database into one file; the server must be stopped |
| \`stet-server restore <file>\` | fills an empty data folder from such a file |
| \`stet-server generate-key admin\\|encryption\` | prints a well-formed key for \`STET_ADMIN_KEY\` or \`STET_ENCRYPTION_KEY\` |
| \`stet-server new-admin-key [workspace]\` | issues a further admin key when the first is lost |
| \`stet-server workspace create <name>\` | creates a further tenant and prints its first key |
`

if (process.argv.includes('--check')) {
  if (readFileSync(file, 'utf8') !== text) {
    console.error('docs/configuration.md differs from the settings; run: pnpm --filter @stet/server configuration')
    process.exitCode = 1
  }
} else writeFileSync(file, text)

/** Writes docs/configuration.md from the settings. With `--check`, fails if the file differs. */
import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { z } from 'zod'
import { settings, variableOf } from '../src/settings.ts'

const file = fileURLToPath(new URL('../../../docs/configuration.md', import.meta.url))

const rows = Object.values<z.ZodType>(settings).map((schema) => {
  const fallback = schema instanceof z.ZodPrefault ? String(schema.def.defaultValue) : undefined
  const written = fallback === undefined ? 'not set' : fallback === '' ? 'empty' : `\`${fallback}\``
  const byDefault = schema.meta()?.['fallbackNote'] ?? written
  return `| \`${variableOf(schema)}\` | ${byDefault} | ${schema.description} |`
})

const text = `# Configuration

The server reads its settings from environment variables, once at startup. An invalid value stops startup with a message that names
the variable. An empty value counts as not set. For an unknown variable that starts with \`STET_\`, the server logs a warning that suggests the nearest setting. This page is generated (\`pnpm --filter @stet/server configuration\`).

| variable | default | meaning |
|---|---|---|
${rows.join('\n')}

## Files in the data folder (embedded)

| file | content |
|---|---|
| \`db/\` | the database; only the server opens it, under a lock |
| \`admin.key\` | the admin API key of the first start, mode 0600; delete it once you have stored it elsewhere |
| \`encryption.key\` | encrypts provider tokens, mode 0600; back it up separately from the database |

## Server commands

| command | effect |
|---|---|
| \`stet-server\` | starts the server |
| \`stet-server backup <file>\` | writes the embedded database to one file, whether the server runs or not |
| \`stet-server restore <file>\` | restores a backup file into an empty data folder |
| \`stet-server generate-key admin\\|encryption\` | prints a new key for \`STET_ADMIN_KEY\` or \`STET_ENCRYPTION_KEY\` |
| \`stet-server new-admin-key [workspace]\` | creates another admin key, for example if the first one is lost |
| \`stet-server workspace create <name>\` | creates another workspace and prints its first key |
`

if (process.argv.includes('--check')) {
  if (readFileSync(file, 'utf8') !== text) {
    console.error('docs/configuration.md differs from the settings; run: pnpm --filter @stet/server configuration')
    process.exitCode = 1
  }
} else writeFileSync(file, text)

import { defined } from '@stet/template/defined'
import { defineCommand } from '../../command.ts'
import { CliError } from '../../exit-code.ts'
import { readProjectId, readRetentionDays } from './project-id.ts'

export const command = defineCommand({
  summary: 'Changes the name, the defaults or the retention of a project.',
  examples: ['stet projects update 7 --name "Support bot"', 'stet projects update 7 --retention-days 90'],
  args: { '<project>': 'its id' },
  flags: {
    '--name <name>': 'new name',
    '--default-provider <name>': 'default provider of prompts; "" clears it',
    '--default-model <model>': 'default model of prompts; "" clears it',
    '--retention-days <days>': `days to keep ended conversations; "server" uses the server's setting`,
  },
  parse(raw) {
    const name = raw.flags.name
    const defaultProvider = raw.flags.defaultProvider
    const defaultModel = raw.flags.defaultModel
    const days = raw.flags.retentionDays
    const changes = {
      ...defined({ name, defaultProvider, defaultModel }),
      ...(days !== undefined && { retentionDays: days === 'server' ? null : readRetentionDays(days) }),
    }
    const hint = 'pass --name, --default-provider, --default-model or --retention-days'
    if (Object.keys(changes).length === 0) throw new CliError('usage', 'Nothing to change', { hint })
    return { id: readProjectId(raw.args[0] ?? '', 'project'), changes }
  },
  run: async ({ id, changes }, ctx) => (await ctx.client()).projects.update(id, changes),
  print({ id, name }, { style, say }) {
    say(`${style.ok} Updated project ${id} "${name}"`)
  },
})

import { defined } from '@stet/template/defined'
import { defineCommand, textFlag } from '../../command.ts'
import { CliError } from '../../exit-code.ts'
import { readProjectId, readRetentionDays } from './project-id.ts'

export const command = defineCommand({
  summary: 'Changes the name, the defaults or the retention of a project.',
  examples: ['stet projects update 7 --name "Support bot"', 'stet projects update 7 --retention-days 90'],
  args: [{ name: 'project', summary: 'its id', isRequired: true }],
  flags: [
    { long: '--name', value: '<name>', summary: 'new name' },
    { long: '--default-provider', value: '<name>', summary: 'default provider of prompts; "" clears it' },
    { long: '--default-model', value: '<model>', summary: 'default model of prompts; "" clears it' },
    {
      long: '--retention-days',
      value: '<days>',
      summary: `days to keep ended conversations; "server" uses the server's setting`,
    },
  ],
  parse(raw) {
    const name = textFlag(raw, 'name')
    const defaultProvider = textFlag(raw, 'defaultProvider')
    const defaultModel = textFlag(raw, 'defaultModel')
    const days = textFlag(raw, 'retentionDays')
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

import { defineCommand, hasFlag, listFlag, type RawInput, textFlag } from '../src/command.ts'
import type { FlagName } from '../src/settings/global-flags.ts'
import { parameterFlags, parseParameters } from '../src/ui/parameters.ts'
import { parseShown } from '../src/ui/run-output.ts'

const about = { summary: 'Does nothing.', examples: [], run: async () => undefined }

defineCommand({
  ...about,
  flags: [{ long: '--dry-run', summary: '' }, { long: '--no-pull', summary: '' }, ...parameterFlags],
  parse(raw) {
    // @ts-expect-error no such flag
    textFlag(raw, 'typo')
    // @ts-expect-error the name of the flag has no hyphens
    hasFlag(raw, 'dry-run')
    // @ts-expect-error `--no-pull` sets `pull`
    hasFlag(raw, 'noPull')
    // @ts-expect-error the command lacks `--show`
    parseShown(raw)
    return [hasFlag(raw, 'dryRun'), raw.flags['pull'], listFlag(raw, 'param'), parseParameters(raw)]
  },
})

defineCommand({
  ...about,
  parse(raw) {
    // @ts-expect-error the command has no flags
    return textFlag(raw, 'typo')
  },
})

declare const raw: RawInput<FlagName<typeof parameterFlags>>
// @ts-expect-error no such flag
listFlag(raw, 'parameter')

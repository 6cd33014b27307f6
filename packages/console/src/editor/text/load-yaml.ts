import { useEffect, useState } from 'react'

type Yaml = typeof import('./yaml.ts')

let loaded: Yaml | null = null

export async function loadYaml(): Promise<Yaml> {
  loaded ??= await import('./yaml.ts')
  return loaded
}

/** Null until the parser is loaded, which begins when the caller is first shown. A text can be edited without it. */
export function useYaml(): Yaml | null {
  const [yaml, setYaml] = useState(loaded)
  useEffect(() => {
    if (!yaml) loadYaml().then(setYaml, () => undefined)
  }, [yaml])
  return yaml
}

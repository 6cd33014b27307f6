import { Chip } from '../../ui/mark.tsx'

/** The tags of a row. */
export function Tags({ tags }: { tags: readonly string[] }) {
  return tags.map((tag) => (
    <Chip key={tag} tone={tag === 'must' ? 'amber' : undefined}>
      {tag}
    </Chip>
  ))
}

/** The subset of PGlite's emscripten file system that we use. PGlite publishes no types for it. */
export interface FsNode {
  name: string
  mode: number
  parent: FsNode
}

export interface FsStream {
  node: FsNode
  /** The host's file descriptor. */
  nfd?: number | null
}

export interface StreamOperations {
  write(stream: FsStream, buffer: Uint8Array, offset: number, length: number, position: number): number
  /** PGlite does not implement `fsync`, and WASI then reports success. */
  fsync?(stream: FsStream): number
  setattr(stream: FsStream, attributes: FsAttributes): void
}

export interface NodeOperations {
  mknod(parent: FsNode, name: string, mode: number, device: number): FsNode
  rename(node: FsNode, newParent: FsNode, newName: string): void
  unlink(parent: FsNode, name: string): void
  rmdir(parent: FsNode, name: string): void
  setattr(node: FsNode, attributes: FsAttributes): void
}

export interface FsAttributes {
  size?: number
}

export interface MountedOperations {
  streams: StreamOperations
  nodes: NodeOperations
}

export interface RuntimeModule {
  FS: {
    ErrnoError: new (errno: number) => Error
    isDir(mode: number): boolean
    lookupPath(
      path: string,
      options: { follow_mount: boolean },
    ): { node: FsNode & { stream_ops: StreamOperations; node_ops: NodeOperations } }
  }
}

/** Forms and their parts, as handlers see them. */

/** The content types of forms. */
export type FormType = 'multipart/form-data' | 'application/x-www-form-urlencoded'

/** The limits of a form. Each is a limit of the app and an option of routes, too. */
export interface FormLimits {
  /** The most parts, fields and files together. Default: that of the route, 100 unless it says otherwise. */
  maxFormParts?: number | undefined
  /** The most files. Default: that of the route, 10 unless it says otherwise. */
  maxFormFiles?: number | undefined
  /** The most bytes of a file. Default: that of the route, 10 MiB unless it says otherwise. */
  maxFileSize?: number | undefined
  /** The most bytes of a field that is no file. Default: that of the route, 64 KiB unless it says otherwise. */
  maxFieldSize?: number | undefined
}

/** The value of a form by one name. */
export type FormValue = string | File

/**
 * A form: text and files by name, on an object without prototype. A repeated name has an array. A file input that no
 * file was chosen for is left out.
 */
export type Form = Record<string, FormValue | FormValue[] | undefined>

/** A file that `part.toFile` wrote. */
export interface SavedFile {
  /** The path of the file: a random name in the folder. */
  readonly path: string
  /** The length of the file in bytes. */
  readonly size: number
}

/**
 * A part of a form, as it arrives. It is read once, and before the next part is asked for: what was not read of it is
 * thrown away then. Every way to read it rejects if the form breaks off, is malformed or is larger than its limits.
 * Iterating over it gives its bytes in chunks.
 */
export interface FormPart extends AsyncIterable<Buffer> {
  /** The name of the form's field. */
  readonly name: string
  /**
   * The name of the file, without the folders that a client may have sent; undefined for a field that is no file. Never
   * make a path of it.
   */
  readonly filename: string | undefined
  /** The media type that the client named, `text/plain` unless it did. Nobody has checked that the bytes are of it. */
  readonly type: string
  /** The header fields of the part by lower-case name, on an object without prototype. */
  readonly headers: Readonly<Record<string, string>>
  /** The bytes as a stream of the web platform. */
  readonly stream: ReadableStream<Uint8Array>
  /** Reads the part into memory. */
  bytes(): Promise<Buffer>
  /** Reads the part into memory and decodes it as UTF-8. Rejects with 400 `E_BODY_ENCODING` if it is not. */
  text(): Promise<string>
  /**
   * Writes the part to a new file in `folder`, as it arrives: the name is random, no other file is replaced, and only
   * this user may read it. Rejects with 507 `E_STORAGE_FULL` for a full disk. If it rejects, and if the form fails
   * before the loop over its parts has ended, all files of the form are removed.
   */
  toFile(folder: string | URL): Promise<SavedFile>
}

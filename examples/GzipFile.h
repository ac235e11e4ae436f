// SPDX-License-Identifier: Apache-2.0
#ifndef GzipFile_h
#define GzipFile_h

#include <string>

namespace example
{

/** Compresses a file as gzip does, on all of ITK's threads: each compresses a part, and the parts follow each other as members of one
 *  file, which RFC 1952 allows and zlib reads as one. On one thread, zlib takes 1.3 s for a head of floats, more than all else of a
 *  registration.
 *  \throws std::runtime_error if either file cannot be read or written; then there is no file of the second name. */
void
GzipFile(const std::string & from, const std::string & to);

} // namespace example

#endif

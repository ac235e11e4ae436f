// SPDX-License-Identifier: Apache-2.0
#ifndef OutputCheck_h
#define OutputCheck_h

#include <string>
#include <vector>

namespace example
{

// Called before a long computation, so that its result is not lost at the end. Existing files do not change, and no new ones remain. Each
// throws a std::runtime_error that names the problem, the file and the remedy.

/** Checks that the folder exists, and that a file of this name can be opened for writing. */
void
CheckFileCanBeWritten(const std::string & fileName);

/** Checks the same, and that ITK writes three-dimensional images to files of this extension. */
void
CheckVolumeCanBeWritten(const std::string & fileName);

/** Checks the same for labels. */
void
CheckLabelsCanBeWritten(const std::string & fileName);

/** Checks the same for a displacement field. */
void
CheckDisplacementsCanBeWritten(const std::string & fileName);

/** Checks the same for transforms. */
void
CheckTransformCanBeWritten(const std::string & fileName);

/** Checks that no two names are of one file, however they are written: the last output would overwrite the other. */
void
CheckOutputsDiffer(const std::vector<std::string> & fileNames);

} // namespace example

#endif

// SPDX-License-Identifier: Apache-2.0
#ifndef OutputCheck_h
#define OutputCheck_h

#include <string>
#include <vector>

namespace example
{

// Called before a long computation, so that its result isn't lost at its end. An existing file stays as it is, and no
// new one is left behind. Each throws a std::runtime_error that says what is wrong, where, and what to do.

/** The folder is there, and a file of this name can be opened for writing. */
void
CheckFileCanBeWritten(const std::string & fileName);

/** The same, and ITK writes three-dimensional images to files of this extension. */
void
CheckVolumeCanBeWritten(const std::string & fileName);

/** The same of labels, … */
void
CheckLabelsCanBeWritten(const std::string & fileName);

/** … and of a displacement field. */
void
CheckDisplacementsCanBeWritten(const std::string & fileName);

/** The same, and ITK writes transforms to files of this extension. */
void
CheckTransformCanBeWritten(const std::string & fileName);

/** No two are of one name, however it is written: what is written last would be all that is left. */
void
CheckOutputsDiffer(const std::vector<std::string> & fileNames);

} // namespace example

#endif

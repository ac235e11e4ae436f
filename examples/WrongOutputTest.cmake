# SPDX-License-Identifier: Apache-2.0
# Each program reports an output that cannot be written before it does anything else: its error is about the output, not about the images,
# which do not exist either. The output's folder does not change.
set(folder ${WORK_DIR}/output)
file(REMOVE_RECURSE ${WORK_DIR})
file(MAKE_DIRECTORY ${folder}/registered.nii.gz ${folder}/taken.tfm ${folder}/with-a-folder/picture.png ${folder}/brain)
file(WRITE ${folder}/kept.nii.gz "kept")
file(CREATE_LINK /there-is-none/linked.nii.gz ${folder}/linked.nii.gz SYMBOLIC)
file(GLOB_RECURSE before LIST_DIRECTORIES TRUE ${folder}/*)

# expect_failure(SAYS COMMAND…): expects the command to fail within seconds, with a first line of error that matches SAYS.
function(expect_failure says)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE error TIMEOUT 5)
  if(NOT result EQUAL 1 OR NOT output STREQUAL "" OR NOT error MATCHES "^${says}")
    message(SEND_ERROR "${ARGN}\nexpected: ${says}\nresult ${result}\noutput ${output}\nerror ${error}")
  endif()
endfunction()

set(files ${REGISTER_FILES} no-fixed.nii.gz no-moving.nii.gz)
expect_failure("There is no folder .*/none for .*/none/a.nii.gz. Make it" ${files} ${folder}/none/a.nii.gz)
expect_failure(".*/registered.nii.gz is a folder. Name a file" ${files} ${folder}/registered.nii.gz)
expect_failure("ITK writes no .* image to .*/a.doc. Give it another extension, such as .nii.gz" ${files} ${folder}/a.doc)
expect_failure("ITK writes no .* image to .*/a.png. Give it another extension, such as .nii.gz" ${files} ${folder}/a.png)
expect_failure("The file .*/linked.nii.gz cannot be opened for writing: No such file" ${files} ${folder}/linked.nii.gz)
expect_failure(".*/taken.tfm is a folder. Name a file" ${files} ${folder}/taken.nii.gz)
# The check of a file that can be written writes nothing.
expect_failure("There is no file no-fixed.nii.gz" ${files} ${folder}/a.nii.gz)
expect_failure("There is no file no-fixed.nii.gz" ${files} ${folder}/kept.nii.gz)
# The other outputs are checked, too, and that no two are one file.
set(all ${files} ${folder}/a.nii.gz)
expect_failure("There is no folder .*/none for .*/none/f.nii" ${all} --field ${folder}/none/f.nii)
expect_failure("ITK writes no displacement field to .*/f.png. Give it another" ${all} --field ${folder}/f.png)
expect_failure("ITK writes no .* labels to .*/l.png. Give it another" ${all} --labels no-labels.nii.gz --warped-labels
               ${folder}/l.png)
expect_failure("Two outputs would be written to .*/a.nii.gz" ${all} --field ${folder}/../output/a.nii.gz)
expect_failure("There is no folder .*/none for .*/none/m.mat" ${all} --omat ${folder}/none/m.mat)
expect_failure("Two outputs would be written to .*/f.nii" ${all} --field ${folder}/f.nii --labels no-labels.nii.gz
               --warped-labels ${folder}/f.nii)
expect_failure("Give one of --rigid, --affine and --free-form" ${all} --free-form --affine)
expect_failure("--spacing is that of --free-form, which is not given" ${all} --spacing 5)
expect_failure("--spacing wants a length in mm above 0, not 5mm" ${all} --free-form --spacing 5mm)
expect_failure("--spacing wants a length in mm above 0, not -5" ${all} --free-form --spacing -5)
expect_failure("--labels wants --warped-labels, which gets them, or, for their Dice, --fixed-labels" ${all} --labels no-labels.nii.gz)
expect_failure("--warped-labels wants the moving image's labels: give --labels" ${all} --warped-labels ${folder}/l.nii)
expect_failure("--fixed-labels wants the moving image's labels: give --labels" ${all} --fixed-labels no-labels.nii.gz)
expect_failure("--deform wants a whole number of at most nine digits, not x" ${all} --deform x)
expect_failure("The picture is a PNG, but its name is .*/p.jpg. Give it the extension .png" ${all} --picture ${folder}/p.jpg)
expect_failure("There is no folder .*/none for .*/none/p.png" ${all} --picture ${folder}/none/p.png)

set(brain ${REGISTER_BRAIN} --device no-device)
expect_failure("The folder .*/kept.nii.gz cannot be made. Name another" ${brain} ${folder}/kept.nii.gz no-head.nii.gz)
expect_failure(".*/picture.png is a folder. Name a file" ${brain} ${folder}/with-a-folder no-head.nii.gz)
expect_failure("--shrink is 1, 2, 3 or 4" ${REGISTER_BRAIN} ${folder}/brain no-head.nii.gz --device host --shrink 5)
expect_failure("There is no file no-head.nii.gz" ${REGISTER_BRAIN} ${folder}/brain no-head.nii.gz --device host)

set(swap ${SWAP_THE_METRIC} no-fixed.nii.gz no-moving.nii.gz)
expect_failure("There is no folder .*/none for .*/none/a.tfm. Make it" ${swap} ${folder}/none/a.tfm)
expect_failure("ITK writes no transform to .*/a.doc. Give it another extension, such as .tfm" ${swap} ${folder}/a.doc)

set(deform ${DEFORM_BY_ITK} no-fixed.nii.gz no-moving.nii.gz)
expect_failure("There is no folder .*/none for .*/none/a.tfm. Make it" ${deform} ${folder}/none/a.tfm)
expect_failure("There is no file no-fixed.nii.gz" ${deform} ${folder}/a.tfm)

file(GLOB_RECURSE after LIST_DIRECTORIES TRUE ${folder}/*)
file(READ ${folder}/kept.nii.gz kept)
if(NOT after STREQUAL before OR NOT kept STREQUAL "kept")
  message(SEND_ERROR "before: ${before}\nafter: ${after}\nkept: ${kept}")
endif()
